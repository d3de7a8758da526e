/** The environment without the settings of the npm that runs the tests, which an npm started by a test would inherit. */
export const OUTSIDE_NPM: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)),
);
