/** Location of the built console (in the published package, or beside it in this repository), and its paths. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** True for all paths except the API. @param url path and query */
export function isOfConsole(url: string): boolean {
  return !/^\/+v1(?:[/?]|$)/.test(url);
}

/** Relative to this module as published or in this repository, and to the files of a bundle whose folder is beside the console. */
const PLACES = ['../../../console/', '../../../../console/', '../console/', '../../console/'];

/**
 * The folder with `hosting.json` and `dist`.
 *
 * @throws Error with help
 */
export function consoleFolder(): string {
  const places = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = places.find((place) => existsSync(`${place}dist/index.html`));
  if (found !== undefined) return found;
  throw new Error(
    "cairnFunctions: the console files are not next to the package 'cairn'. Install the published package and do not bundle it, " +
      "or omit 'console' and serve the console with Firebase Hosting",
  );
}
