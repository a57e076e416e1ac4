"""Records of weather stations."""
