/**
 * Jest's runtime, with V8's code cache of each module kept from one test file to the next. Every test file has a module graph of
 * its own, so that a worker compiles the same few hundred modules again for each file.
 */
const vm = require('node:vm');

const { compileFunction, SourceTextModule } = vm;

/** Code caches by kind and name of the module; one of another source is replaced. */
const kept = new Map();

function keptFor(name, source) {
  const known = kept.get(name);
  return known?.source === source ? known.data : undefined;
}

vm.compileFunction = (source, parameters, options = {}) => {
  const name = `function ${options.filename} ${parameters}`;
  const cachedData = keptFor(name, source);
  if (cachedData) return compileFunction(source, parameters, { ...options, cachedData });
  const made = compileFunction(source, parameters, { ...options, produceCachedData: true });
  if (made.cachedData) kept.set(name, { source, data: made.cachedData });
  return made;
};

vm.SourceTextModule = class extends SourceTextModule {
  constructor(source, options = {}) {
    const name = `module ${options.identifier}`;
    const cachedData = keptFor(name, source);
    super(source, cachedData ? { ...options, cachedData } : options);
    if (!cachedData) kept.set(name, { source, data: this.createCachedData() });
  }
};

module.exports = require('jest-runtime');
