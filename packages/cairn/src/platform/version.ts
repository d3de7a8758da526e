/** Which version of the functions this is. */
import { readFileSync } from 'node:fs';

/** The functions' own package, beside `src/` and beside the built `lib/`. */
const { version: own } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const version: string = own;
