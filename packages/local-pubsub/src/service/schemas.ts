/**
 * The schemas of one server with their revisions: creates them, and validates messages. Independent of topics and requests;
 * `schema/` interprets definitions.
 */
import { createHash } from 'node:crypto';
import type { ServerClock } from '@cairn/local-kit/time/clock';
import {
  LIMITS,
  type Publication,
  type SchemaRevision,
  type SchemaSettings,
  type TopicConfig,
} from '../model/resources.ts';
import { namedBy, withinBounds } from '../model/revision-bounds.ts';
import { exists, invalid, missing, precondition } from '../model/status.ts';
import { type Definition, type Encoding, parseDefinition, type SchemaType } from '../schema/definition.ts';
import type { PubsubStore } from '../storage/storage.ts';

interface SchemasOptions {
  readonly store: PubsubStore;
  readonly clock: ServerClock;
  /** Unique. */
  readonly freshGeneration: () => string;
}

/** A schema whose definition is parsed on first use. */
interface KnownSchema {
  readonly revision: SchemaRevision;
  definition: Definition | undefined;
}

export class Schemas {
  readonly #options: SchemasOptions;
  /** By name, the oldest revision first. */
  readonly #schemas = new Map<string, KnownSchema[]>();

  /** Loads the stored schemas. */
  constructor(options: SchemasOptions) {
    this.#options = options;
    for (const revision of options.store.schemas()) this.#keep(revision, undefined);
  }

  create(name: string, type: SchemaType, text: string): SchemaRevision {
    if (this.#schemas.has(name)) throw exists(name);
    return this.#add(name, type, text);
  }

  /** The newest revision of each schema. */
  all(): SchemaRevision[] {
    return [...this.#schemas.keys()].map((name) => this.get(name, undefined));
  }

  /** Without `revision`: the newest. */
  get(name: string, revision: string | undefined): SchemaRevision {
    return this.#known(name, revision).revision;
  }

  /** The newest first. */
  revisions(name: string): SchemaRevision[] {
    return this.#of(name)
      .map((known) => known.revision)
      .reverse();
  }

  /** Adds a revision of the same type that is compatible with the newest in both directions. */
  commit(name: string, type: SchemaType, text: string): SchemaRevision {
    const newest = this.#known(name, undefined);
    const definition = parsedDefinition(type, text);
    try {
      definition.requireFollows(definitionOf(newest));
    } catch (error) {
      throw invalid(`The definition is not compatible with the newest revision: ${reasonOf(error)}.`);
    }
    return this.#add(name, type, text);
  }

  /** Adds a copy of the revision as the newest one. */
  rollback(name: string, revision: string): SchemaRevision {
    const { type, definition } = this.get(name, revision);
    return this.#add(name, type, definition);
  }

  /** The next older revision; undefined: it is the oldest. @throws PubsubError if it does not exist */
  previous(name: string, revision: string): string | undefined {
    const known = this.#of(name);
    return known[known.indexOf(this.#known(name, revision)) - 1]?.revision.revision;
  }

  /** @param topics topics whose settings change with it. @returns the deleted revision */
  deleteRevision(name: string, revision: string, topics: readonly TopicConfig[]): SchemaRevision {
    const known = this.#of(name);
    const deletedRevision = this.#known(name, revision);
    if (known.length === 1) throw invalid('The only revision of a schema cannot be deleted.');
    this.#options.store.deleteSchemaRevision(name, revision, topics);
    known.splice(known.indexOf(deletedRevision), 1);
    return deletedRevision.revision;
  }

  /** Call after the store has deleted it. */
  forget(name: string): void {
    this.#schemas.delete(name);
  }

  /** @throws PubsubError if the schema or a named revision does not exist, or the first one is newer than the last */
  requireAll(settings: SchemaSettings): void {
    const { name, firstRevision, lastRevision } = settings;
    for (const bound of [firstRevision, lastRevision]) this.#known(name, namedBy(bound));
    const deleted = typeof firstRevision === 'object' || typeof lastRevision === 'object';
    if (!deleted && this.#range(settings).length === 0) {
      throw invalid('The first revision of the schema must not be newer than the last.');
    }
  }

  /** The messages with attributes that name the schema revision. @throws PubsubError if one is invalid */
  checked(settings: SchemaSettings, publications: readonly Publication[]): Publication[] {
    const range = this.#range(settings);
    return publications.map((publication) => {
      const { revision } = firstFit(range, publication.data, settings);
      const attributes = {
        ...publication.attributes,
        googclient_schemaencoding: settings.encoding,
        googclient_schemaname: settings.name,
        googclient_schemarevisionid: revision.revision,
      };
      return { ...publication, attributes };
    });
  }

  /** @throws PubsubError that explains why the message is invalid */
  check(
    { name, revision }: { readonly name: string; readonly revision: string | undefined },
    data: Uint8Array,
    encoding: Encoding,
  ): void {
    firstFit([this.#known(name, revision)], data, { name, encoding });
  }

  /** The newest first, in the order of validation. */
  #range(settings: SchemaSettings): KnownSchema[] {
    const known = this.#of(settings.name);
    const allowed = withinBounds(
      known.map(({ revision }) => revision),
      settings,
    );
    return known.filter(({ revision }) => allowed.includes(revision)).reverse();
  }

  #add(name: string, type: SchemaType, text: string): SchemaRevision {
    const definition = parsedDefinition(type, text);
    const others = this.#schemas.get(name) ?? [];
    if (others.length >= LIMITS.schemaRevisions) {
      throw precondition(`A schema has at most ${LIMITS.schemaRevisions} revisions at a time.`);
    }
    const { store, clock } = this.#options;
    const revision = this.#freshRevision(others);
    const made = { name, revision, type, definition: text, createdAt: clock.now() };
    store.addSchema(made);
    this.#keep(made, definition);
    return made;
  }

  #freshRevision(others: readonly KnownSchema[]): string {
    for (;;) {
      const hash = createHash('sha256').update(this.#options.freshGeneration()).digest('hex').slice(0, 8);
      if (!others.some((known) => known.revision.revision === hash)) return hash;
    }
  }

  #keep(revision: SchemaRevision, definition: Definition | undefined): void {
    const others = this.#schemas.get(revision.name) ?? [];
    this.#schemas.set(revision.name, [...others, { revision, definition }]);
  }

  #of(name: string): KnownSchema[] {
    const known = this.#schemas.get(name);
    if (known === undefined) throw missing(name);
    return known;
  }

  #known(name: string, revision: string | undefined): KnownSchema {
    const all = this.#of(name);
    const known = revision === undefined ? all.at(-1) : all.find((one) => one.revision.revision === revision);
    if (known === undefined) throw missing(`${name}@${revision}`);
    return known;
  }
}

/** @throws PubsubError for an invalid definition */
export function parsedDefinition(type: SchemaType, text: string): Definition {
  if (Buffer.byteLength(text) > LIMITS.schemaBytes) {
    throw invalid(`The definition of a schema has more than ${LIMITS.schemaBytes} bytes.`);
  }
  try {
    return parseDefinition(type, text);
  } catch (error) {
    throw invalid(`Invalid schema definition: ${reasonOf(error)}.`);
  }
}

/** @throws PubsubError that explains why the message is invalid */
export function checkAgainst(
  definition: Definition,
  data: Uint8Array,
  { encoding, type }: { readonly encoding: Encoding; readonly type: SchemaType },
): void {
  try {
    definition.check(data, encoding);
  } catch (error) {
    throw refused(encoding, type, reasonOf(error));
  }
}

/** The first revision by which the message is valid. */
function firstFit(
  range: readonly KnownSchema[],
  data: Uint8Array,
  { name, encoding }: Pick<SchemaSettings, 'name' | 'encoding'>,
): KnownSchema {
  let reason = '';
  for (const known of range) {
    try {
      definitionOf(known).check(data, encoding);
      return known;
    } catch (error) {
      reason = `last checked revision: revision_id=${known.revision.revision} failed with status: ${reasonOf(error)}`;
    }
  }
  const type = range[0]?.revision.type ?? 'AVRO';
  throw refused(
    encoding,
    type,
    `Could not validate message with any schema revision for schema: ${name}, ${reason}`,
  );
}

function definitionOf(known: KnownSchema): Definition {
  known.definition ??= parseDefinition(known.revision.type, known.revision.definition);
  return known.definition;
}

const refused = (encoding: Encoding, type: SchemaType, revisionInfo: string) =>
  invalid('Invalid data in message: Message failed schema validation.', {
    reason: `INVALID_${encoding}_${type === 'AVRO' ? 'AVRO' : 'PROTO'}_MESSAGE`,
    metadata: { message: 'Message failed schema validation', revisionInfo },
  });

/** Truncated, so that quotes of a definition or message fit gRPC's headers. */
const reasonOf = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).slice(0, 300).replace(/[^\x20-\x7e]/g, '?');
