/**
 * Tests run the same type-stripped ES modules that run locally: no bundler, no second compiler. The functions that most tests
 * serve on a local cloud are bundled, as they are deployed (scripts/test-functions/).
 */
// For the processes of local clouds (packages/local/src/node-flags.ts).
process.env.CAIRN_SHORT_LIVED ??= '1';

export default {
  testEnvironment: '<rootDir>/scripts/jest/environment.cjs',
  runtime: '<rootDir>/scripts/jest/runtime.cjs',
  testSequencer: '<rootDir>/scripts/jest/sequencer.cjs',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  // Packages as they are published, beside the packages themselves.
  modulePathIgnorePatterns: ['<rootDir>/build/', '<rootDir>/functions/lib/'],
  moduleNameMapper: { '^fast-check$': '<rootDir>/scripts/seeded-fast-check.mjs' },
  transform: { '\\.ts$': '<rootDir>/scripts/strip-types.cjs' },
  // A hung test is told in minutes; a busy machine is not taken for one.
  testTimeout: 240_000,
  maxWorkers: 3,
  // Modules of finished files stay in a worker's heap, and collecting them takes more time than a new worker's start.
  workerIdleMemoryLimit: '500MB',
};
