/**
 * Rules for the values of the options of `cairnFunctions`, from the limits of Google's services. Without them, an invalid value would
 * fail only after some functions had been deployed, or at their first request. Pure.
 */
import { RESET_VALUE } from 'firebase-functions/options';
import { LONGEST_DRIVE_S, SHORTEST_DRIVE_S } from '../../core/drive-time.ts';

interface OptionRule {
  /** Completes a sentence that begins with "it must be". */
  readonly what: string;
  isMet(value: unknown): boolean;
}

type Rules<T> = { readonly [K in keyof T]?: OptionRule };

const MAX_SHOWN_CHARS = 60;

/** @throws TypeError with the first option whose value breaks its rule. An undefined value counts as an omitted option. */
export function checkValues<T extends object>(where: string, given: T, rules: Rules<T>): void {
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(rules, name) ? rules[name as keyof T] : undefined;
    if (value === undefined || rule === undefined || rule.isMet(value)) continue;
    throw new TypeError(`cairnFunctions: ${where}${name} is ${shown(value)}; it must be ${rule.what}`);
  }
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list with ${shown(value[0])}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}

const matching = (pattern: RegExp, what: string): OptionRule => ({
  what,
  isMet: (value) => typeof value === 'string' && pattern.test(value),
});

const either = (one: OptionRule, other: OptionRule): OptionRule => ({
  what: `${one.what}, or ${other.what}`,
  isMet: (value) => one.isMet(value) || other.isMet(value),
});

const listOf = (what: string, isMember: (value: unknown) => boolean, least = 0): OptionRule => ({
  what,
  isMet: (value) => Array.isArray(value) && value.length >= least && value.every(isMember),
});

/** @param most Infinity: no limit */
function integer(least: number, most = Number.POSITIVE_INFINITY): OptionRule {
  return {
    what:
      most === Number.POSITIVE_INFINITY
        ? `an integer from ${least} on`
        : `an integer from ${least} to ${most}`,
    isMet: (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Parameter of `firebase-functions/params`. Its value is known only during the deployment. */
const PARAMETER: OptionRule = {
  what: 'a parameter of firebase-functions',
  isMet: (value) => isObject(value) && 'value' in value && typeof value.value === 'function',
};

/** Compares classes, to recognise the value of the SDK's other build (ES modules, CommonJS) too. */
const isReset = (value: unknown) => value instanceof RESET_VALUE.constructor;

const flag: OptionRule = { what: 'true or false', isMet: (value) => typeof value === 'boolean' };
const text: OptionRule = { what: 'a string', isMet: (value) => typeof value === 'string' };
const isPlain = (value: unknown): value is object => isObject(value) && !Array.isArray(value);
const object: OptionRule = { what: 'an object with its options', isMet: isPlain };

const TOPIC = /^[A-Za-z][A-Za-z0-9._~+%-]{2,254}$/;
const MEMORY = ['128MiB', '256MiB', '512MiB', '1GiB', '2GiB', '4GiB', '8GiB', '16GiB', '32GiB'];
/** Valid numbers of processors, besides any number below one. */
const PROCESSORS = [1, 2, 4, 6, 8];
const LEAST_PROCESSOR = 0.08;

/** Limit of a queue of Cloud Tasks. */
const MAX_QUEUE_PLACES = 5_000;
const MAX_CONCURRENCY = 1_000;

export const OPTION_RULES = {
  region: either(matching(/^[a-z]+-[a-z]+[0-9]{1,2}$/, 'one region, such as europe-west1'), PARAMETER),
  database: matching(
    /^(?:\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9])$/,
    '(default), or 4 to 63 lower-case letters, digits and hyphens, a letter first',
  ),
  collectionPrefix: text,
  environment: text,
  runEventsTopic: text,
  console: flag,
  parameters: flag,
  managedAccount: flag,
  drive: object,
  drives: {
    what: 'an object with an entry for each drive',
    isMet: (value: unknown) => isPlain(value) && Object.values(value).every(isPlain),
  },
  github: either(flag, object),
  slack: either(flag, object),
  secrets: listOf(
    'a list of secrets: names, or what defineSecret returns',
    (one) => (typeof one === 'string' && one !== '') || (isObject(one) && 'name' in one),
  ),
  topics: listOf(
    'a list of names of topics, such as orders',
    (one) => typeof one === 'string' && TOPIC.test(one),
  ),
  bindings: {
    what: 'a list of bindings, or a function that returns one',
    isMet: (value: unknown) => typeof value === 'function' || (Array.isArray(value) && value.every(isObject)),
  },
};

export const DRIVE_RULES = {
  memory: {
    what: `one of ${MEMORY.join(', ')}, a parameter, or RESET_VALUE`,
    isMet: (value: unknown) =>
      (typeof value === 'string' && MEMORY.includes(value)) || PARAMETER.isMet(value) || isReset(value),
  },
  cpu: {
    what: `${PROCESSORS.join(', ')}, less than 1, or 'gcf_gen1'`,
    isMet: (value: unknown) =>
      value === 'gcf_gen1' ||
      (typeof value === 'number' && (PROCESSORS.includes(value) || (value >= LEAST_PROCESSOR && value < 1))),
  },
  concurrency: integer(1, MAX_CONCURRENCY),
  minInstances: integer(0),
  maxInstances: integer(1),
  queuePlaces: integer(1, MAX_QUEUE_PLACES),
  timeoutSeconds: integer(SHORTEST_DRIVE_S, LONGEST_DRIVE_S),
};

/** Workflows of a drive class. */
export const WORKFLOW_TYPES: OptionRule = listOf(
  'a list of types of workflows',
  (one) => typeof one === 'string' && one !== '',
  1,
);

export const TENANT_RULES = { tenants: text, tenant: text };

/** Results of `defineWorkflow`. */
export const WORKFLOWS: OptionRule = listOf(
  'a list of workflows, or a function that returns one',
  (one) => isObject(one) && 'type' in one && 'planVersion' in one && 'steps' in one,
);
