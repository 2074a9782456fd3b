// Stands in for @vscode/spdlog, which VS Code writes its logs and output channels with and which would need a C++ compiler:
// without it every output channel stays empty. Same interface and line format, written at once; no rotation.
'use strict';
const fs = require('node:fs');
const path = require('node:path');

const names = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];

class Logger {
  #fd;
  #level = 2;
  #raw = false;

  constructor(_type, _name, file) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    this.#fd = fs.openSync(file, 'a');
  }

  #write(level, message) {
    if (level < this.#level || this.#fd === undefined) return;
    const now = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000)
      .toISOString()
      .slice(0, 23)
      .replace('T', ' ');
    fs.writeSync(this.#fd, this.#raw ? message : `${now} [${names[level]}] ${message}\n`);
  }

  trace(message) {
    this.#write(0, message);
  }
  debug(message) {
    this.#write(1, message);
  }
  info(message) {
    this.#write(2, message);
  }
  warn(message) {
    this.#write(3, message);
  }
  error(message) {
    this.#write(4, message);
  }
  critical(message) {
    this.#write(5, message);
  }
  getLevel() {
    return this.#level;
  }
  setLevel(level) {
    this.#level = level;
  }
  setPattern() {
    this.#raw = false;
  }
  clearFormatters() {
    this.#raw = true;
  }
  flush() {}
  drop() {
    if (this.#fd !== undefined) fs.closeSync(this.#fd);
    this.#fd = undefined;
  }
}

const create = async (name, file) => new Logger('rotating', name, file);

exports.version = 11200;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.Logger = Logger;
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
