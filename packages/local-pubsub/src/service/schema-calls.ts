/** The calls of `google.pubsub.v1.SchemaService`, each an operation on the schemas. Owns requests and responses. */
import { fromMs } from '@cairn/local-kit/wire/timestamp';
import { requireProject, requireSchema, splitSchema } from '../model/names.ts';
import type { SchemaRevision } from '../model/resources.ts';
import { invalid } from '../model/status.ts';
import type { Encoding, SchemaType } from '../schema/definition.ts';
import { encodingFrom, schemaTypeFrom, TYPES } from '../wire/decode-schema.ts';
import type { WireSchema } from '../wire/messages.ts';
import type { Broker } from './broker.ts';
import { pageOf, type ResourcePageRequest, within } from './page.ts';
import { checkAgainst, parsedDefinition } from './schemas.ts';

interface SchemaRequest {
  readonly name: string;
  readonly view?: number;
}

interface ProjectRequest {
  readonly parent: string;
  readonly schema?: WireSchema | null;
}

const FULL = 2;
const BASIC = 1;
/** Greater than every position of a revision. Subtracting a position gives names that sort the newest revision first. */
const BEYOND = 10 ** 15;

/** Handlers by method name; each returns the response message or throws a `PubsubError`. */
export function schemaCalls(broker: Broker) {
  const { topics } = broker;
  const { schemas } = topics;
  return {
    CreateSchema({ parent, schema, schemaId }: ProjectRequest & { schemaId?: string }) {
      const name = requireSchema(`${requireProject(parent)}/schemas/${schemaId ?? ''}`);
      const { type, text } = definitionFrom(schema);
      return toWire(schemas.create(name, type, text), FULL);
    },

    GetSchema({ name: requestedName, view }: SchemaRequest) {
      const { name, revision } = splitSchema(requestedName);
      return toWire(schemas.get(name, revision), view || FULL);
    },

    ListSchemas({ parent, view, ...request }: ResourcePageRequest & ProjectRequest & { view?: number }) {
      const { page, nextPageToken } = pageOf(within(requireProject(parent), schemas.all()), request);
      return { schemas: page.map((schema) => toWire(schema, view || BASIC)), nextPageToken };
    },

    ListSchemaRevisions({ name: requestedName, view, ...request }: ResourcePageRequest & SchemaRequest) {
      const revisions = schemas
        .revisions(requireSchema(requestedName))
        .map((revision, index, all) => ({ name: String(BEYOND - (all.length - index)), revision }));
      const { page, nextPageToken } = pageOf(revisions, request);
      return { schemas: page.map(({ revision }) => toWire(revision, view || BASIC)), nextPageToken };
    },

    CommitSchema({ name: requestedName, schema }: SchemaRequest & { schema?: WireSchema | null }) {
      const name = requireSchema(requestedName);
      if (schema?.name && schema.name !== name) {
        throw invalid('CommitSchemaRequest.schema.name must be the name of the request.');
      }
      const { type, text } = definitionFrom(schema);
      return toWire(schemas.commit(name, type, text), FULL);
    },

    RollbackSchema({ name, revisionId }: SchemaRequest & { revisionId?: string }) {
      if (!revisionId) throw invalid('RollbackSchemaRequest.revision_id must be set.');
      return toWire(schemas.rollback(requireSchema(name), revisionId), FULL);
    },

    DeleteSchemaRevision({ name: requestedName, revisionId }: SchemaRequest & { revisionId?: string }) {
      const { name, revision } = splitSchema(
        revisionId && !requestedName.includes('@') ? `${requestedName}@${revisionId}` : requestedName,
      );
      if (revision === undefined) throw invalid('The name must end with @ and the revision to delete.');
      return toWire(topics.deleteSchemaRevision(name, revision), FULL);
    },

    DeleteSchema({ name }: SchemaRequest) {
      topics.deleteSchema(requireSchema(name));
      return {};
    },

    ValidateSchema({ parent, schema }: ProjectRequest) {
      requireProject(parent);
      const { type, text } = definitionFrom(schema);
      parsedDefinition(type, text);
      return {};
    },

    ValidateMessage({ parent, name: requestedName, schema, message, encoding }: ProjectRequest & ToValidate) {
      requireProject(parent);
      const data = message?.length ? message : new Uint8Array();
      const encoded: Encoding = encodingFrom(encoding);
      if (schema) {
        const { type, text } = definitionFrom(schema);
        checkAgainst(parsedDefinition(type, text), data, { encoding: encoded, type });
      } else {
        const { name, revision } = splitSchema(requestedName ?? '');
        schemas.check({ name, revision }, data, encoded);
      }
      return {};
    },
  };
}

interface ToValidate {
  readonly name?: string | null;
  readonly message?: Uint8Array | null;
  readonly encoding?: number | null;
}

function definitionFrom(schema: WireSchema | null | undefined): { type: SchemaType; text: string } {
  const type = schemaTypeFrom(schema?.type);
  const text = schema?.definition ?? '';
  if (text === '') throw invalid('Schema.definition must not be empty.');
  return { type, text };
}

function toWire(schema: SchemaRevision, view: number): object {
  return {
    name: schema.name,
    type: TYPES.indexOf(schema.type),
    definition: view === FULL ? schema.definition : '',
    revisionId: schema.revision,
    revisionCreateTime: fromMs(schema.createdAt),
  };
}
