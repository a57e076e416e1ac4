"use strict";
// Generated, do not edit.
exports.DEFAULTS = { limit: 100 };
exports.unused = function unused(a) { if (a) { return 1; } return 2; };
