/** The environment without the settings of the npm that runs the tests, which would be those of an npm that a test starts too. */
export const OUTSIDE_NPM: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)),
);
