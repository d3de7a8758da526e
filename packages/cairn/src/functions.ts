/** `cairn/functions`: the functions of an installation. Separate from the main entry, so that a cold start loads no more than it needs. */

export { guardFunctions } from './platform/body-guard.ts';
export { type CairnFunctions, cairnFunctions } from './platform/installation/cairn-functions.ts';
export type { RunResult, StartedRun } from './platform/installation/in-process.ts';
export { hookUrls } from './platform/settings/outside.ts';
export { githubToken } from './platform/settings/secrets.ts';
