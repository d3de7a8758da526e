/** The version of the deployed functions. */
import { readFileSync } from 'node:fs';

/** The package's own manifest, beside `src/` and beside the built `lib/`. A deployed bundle contains the version. */
const { version: own } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const version: string = own;
