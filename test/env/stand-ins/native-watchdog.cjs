// Stands in for native-watchdog, which would need a C++ compiler. VS Code's own timer ends an orphaned extension host too.
'use strict';
exports.start = () => {};
exports.exit = () => {};
