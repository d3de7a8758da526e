/** Finds the region of the project's functions. Cairn's functions use the same one, because they call each other. Pure. */
import { InitProblem } from './problem.ts';
import type { Project } from './project.ts';

export interface FoundRegion {
  readonly region: string;
  /** Its source, as the end of a sentence: `as in the functions of functions/`. */
  readonly why: string;
}

/** The default of firebase-tools for functions without a region. */
const DEFAULT_REGION = 'us-central1';
const CONTINENT = '(?:africa|asia|australia|europe|me|northamerica|southamerica|us)';
const REGION = new RegExp(`^${CONTINENT}-[a-z]+[0-9]{1,2}$`);
const QUOTED = `\\[?\\s*['"\`](${CONTINENT}-[a-z]+[0-9]{1,2})['"\`]`;
const GLOBAL_OPTION = new RegExp(`\\bsetGlobalOptions\\(\\s*\\{[^}]*?\\bregion\\s*:\\s*${QUOTED}`, 'g');
/** Region of one function: in options (second generation) or as a call (first generation). */
const OWN_OPTIONS = [
  new RegExp(`\\bregion\\s*:\\s*${QUOTED}`, 'g'),
  new RegExp(`\\.region\\(\\s*${QUOTED}`, 'g'),
];
const COMMENTS = /\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*/g;

/** @throws InitProblem REGION_INVALID */
export function regionOf(
  { codebases, firebaseJson }: Pick<Project, 'codebases' | 'firebaseJson'>,
  given: string | undefined,
): FoundRegion {
  if (given !== undefined) return { region: assertRegion(given), why: 'as --region says' };
  const texts = codebases.flatMap(({ source, entryTexts }) =>
    entryTexts.map((text) => ({ source, text: text.replace(COMMENTS, '') })),
  );
  // Options for all functions of a codebase take precedence over those of one function.
  const sources: readonly (readonly FoundRegion[])[] = [
    texts.flatMap((one) => named(one, [GLOBAL_OPTION])),
    texts.flatMap((one) => named(one, OWN_OPTIONS)),
    regionsIn(firebaseJson.read.hosting).map((region) => ({ region, why: 'as in firebase.json' })),
  ];
  const found = sources.find((one) => one.length > 0) ?? [];
  const [first] = found;
  if (first === undefined)
    return { region: DEFAULT_REGION, why: 'the default: no file of the project names one' };
  const regions = [...new Set(found.map(({ region }) => region))];
  if (regions.length === 1) return first;
  return { region: DEFAULT_REGION, why: `the default: your functions name several (${regions.join(', ')})` };
}

function named(
  { source, text }: { readonly source: string; readonly text: string },
  patterns: readonly RegExp[],
): FoundRegion[] {
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, region = '']) => ({
      region,
      why: `as in the functions of ${source}/`,
    })),
  );
}

/** Regions of the functions that a site is rewritten to. */
function regionsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'region' && typeof member === 'string' && REGION.test(member) ? [member] : regionsIn(member),
  );
}

function assertRegion(region: string): string {
  if (REGION.test(region)) return region;
  throw new InitProblem(
    'REGION_INVALID',
    `'${region}' is not a region of Cloud Functions`,
    'Give one such as europe-west1 with --region REGION. Nothing was changed.',
  );
}
