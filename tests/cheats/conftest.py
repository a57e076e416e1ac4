"""The cases bring tests of their own, which are material and never collected."""

collect_ignore = ["corpus"]
