// Jest transformer: Node's own type stripping, so that tests and production run identical code.
const { createHash } = require('node:crypto');
const { stripTypeScriptTypes } = require('node:module');

module.exports = {
  process: (source) => ({ code: stripTypeScriptTypes(source) }),
  getCacheKey: (source, path) =>
    createHash('sha256').update(process.version).update(path).update(source).digest('hex'),
};
