/** The resource names of Pub/Sub: their form, and the error for an invalid one. Pure. */
import { invalid } from './status.ts';

/** An id or a number. */
const PROJECT = 'projects/[a-z0-9][a-z0-9:.-]{0,99}';
/** 3 to 255 characters, begins with a letter and not with `goog`. */
const ID = '(?!goog)[A-Za-z][A-Za-z0-9._~+%-]{2,254}';

const PROJECT_NAME = new RegExp(`^${PROJECT}$`);
const TOPIC_NAME = new RegExp(`^${PROJECT}/topics/${ID}$`);
const SUBSCRIPTION_NAME = new RegExp(`^${PROJECT}/subscriptions/${ID}$`);
const SNAPSHOT_NAME = new RegExp(`^${PROJECT}/snapshots/${ID}$`);
const SCHEMA_NAME = new RegExp(`^${PROJECT}/schemas/${ID}$`);

/** Topic name of a subscription whose topic was deleted. */
export const DELETED_TOPIC = '_deleted-topic_';

export function requireProject(name: string): string {
  if (!PROJECT_NAME.test(name)) throw invalid(`Invalid [projects] name: (name=${shown(name)})`);
  return name;
}

export function requireTopic(name: string): string {
  if (!TOPIC_NAME.test(name)) throw invalid(`Invalid [topics] name: (name=${shown(name)})`);
  return name;
}

export function requireSubscription(name: string): string {
  if (!SUBSCRIPTION_NAME.test(name)) throw invalid(`Invalid [subscriptions] name: (name=${shown(name)})`);
  return name;
}

export function requireSnapshot(name: string): string {
  if (!SNAPSHOT_NAME.test(name)) throw invalid(`Invalid [snapshots] name: (name=${shown(name)})`);
  return name;
}

/** Schema name of a topic whose schema was deleted. */
export const DELETED_SCHEMA = '_deleted-schema_';

/** `…/schemas/{s}`, with or without `@{revision}`. */
export function splitSchema(name: string): { readonly name: string; readonly revision: string | undefined } {
  const at = name.lastIndexOf('@');
  if (at < 0) return { name: requireSchema(name), revision: undefined };
  const revision = name.slice(at + 1);
  if (!/^[0-9a-f]{8}$/.test(revision)) throw invalid(`Invalid schema revision: (name=${shown(name)})`);
  return { name: requireSchema(name.slice(0, at)), revision };
}

/** Without a revision. */
export function requireSchema(name: string): string {
  if (!SCHEMA_NAME.test(name)) throw invalid(`Invalid [schemas] name: (name=${shown(name)})`);
  return name;
}

/** `p` of `projects/p/…`. */
export const projectOf = (name: string) => name.split('/')[1] ?? '';

/** Truncates a name, so that the error fits gRPC's headers. */
const shown = (name: string) => name.slice(0, 300).replace(/[^\x20-\x7e]/g, '?');
