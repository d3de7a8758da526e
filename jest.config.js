/** Tests run the same type-stripped ES modules that production runs: no bundler, no second compiler. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  transform: { '\\.ts$': '<rootDir>/scripts/strip-types.cjs' },
  testTimeout: 60_000,
  // One more than the cores of a small machine: most of the time of the tests with real processes is waiting.
  maxWorkers: 3,
};
