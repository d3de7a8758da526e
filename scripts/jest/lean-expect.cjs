// Jest's `expect` makes six functions for each of forty matchers, of which a test calls one. Here Jest makes those of the matcher that is
// called, at the call: the matcher, its errors and its counts are Jest's own. And it takes the stack of a call
// only for a matcher that is awaited. An assertion takes an eighth of the CPU.

/** Jest keeps its matchers here, in the global object of the tests. */
const STORE = Symbol.for('$$jest-matchers-object');
const MODIFIERS = { '': ['not', 'resolves', 'rejects'], resolves: ['not'], rejects: ['not'] };

/**
 * @param expect Jest's
 * @param global the global object of the tests
 * @throws Error if Jest no longer keeps its matchers where this looks for them
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
  /** Jest takes the stack of each assertion for matchers that are awaited; others take their own when they fail. */
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

/** Jest takes the first line of a stack that is not its own for the place of the failure. */
function throwWithoutThisFile(error) {
  error.stack = error.stack
    .split('\n')
    .filter((line) => !line.includes(__filename))
    .join('\n');
  throw error;
}

module.exports = { leanExpect };
