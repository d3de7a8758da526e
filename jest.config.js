/** Tests run the same type-stripped ES modules that production runs: no bundler, no second compiler. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  transform: { '\\.ts$': '<rootDir>/scripts/strip-types.cjs' },
  testTimeout: 60_000,
  maxWorkers: 2,
};
