import { join } from 'node:path';
import { Encodings, SchemaTypes, SchemaViews, v1 } from '@google-cloud/pubsub';
import { credentials, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { freshFolder } from '../start/start-fixture.ts';
import { refusal } from '../support.ts';
import { PROJECT, type PubsubFixture, startPubsub, TOPIC } from './pubsub-fixture.ts';
import { readerOf } from './reader.ts';

const NAME = `${PROJECT}/schemas/city`;
const fields = [{ name: 'name', type: 'string' }];
const NOTE = { name: 'note', type: ['null', 'string'], default: null };
const avro = (...more: object[]) =>
  JSON.stringify({ type: 'record', name: 'City', fields: [...fields, ...more] });
const { ALREADY_EXISTS, INVALID_ARGUMENT, NOT_FOUND } = status;

let pubsub: PubsubFixture;
let schemas: v1.SchemaServiceClient;
const storage = () => ({ kind: 'sqlite' as const, file: join(freshFolder(), 'pubsub.sqlite') });

function connect(fixture: PubsubFixture) {
  const [apiEndpoint = '', port = ''] = fixture.server.host.split(':');
  const sslCreds = credentials.createInsecure();
  return new v1.SchemaServiceClient({ apiEndpoint, port: Number(port), sslCreds, projectId: 'demo-cairn' });
}
beforeEach(async () => {
  pubsub = await startPubsub();
  schemas = connect(pubsub);
});
afterEach(async () => {
  await schemas.close();
  await pubsub.stop();
});

const { subscribe, publish, pull, modify } = readerOf(() => pubsub);
const create = () => pubsub.client.createSchema('city', SchemaTypes.Avro, avro());
const commit = (definition = avro(NOTE)) =>
  schemas.commitSchema({ name: NAME, schema: { name: NAME, type: 'AVRO', definition } });
const topicWith = (more: object = {}) =>
  pubsub.publisher.createTopic({ name: TOPIC, schemaSettings: { schema: NAME, encoding: 'JSON', ...more } });

test('a schema is made once, read with and without its definition, listed and deleted', async () => {
  const schema = await create();
  expect((await refusal(create())).code).toBe(ALREADY_EXISTS);
  expect(await schema.get(SchemaViews.Full)).toMatchObject({
    name: NAME,
    type: 'AVRO',
    definition: avro(),
    revisionId: expect.stringMatching(/^[0-9a-f]{8}$/),
  });
  expect((await schema.get(SchemaViews.Basic)).definition).toBe('');
  const listed: unknown[] = [];
  for await (const one of pubsub.client.listSchemas()) listed.push(one);
  expect(listed).toMatchObject([{ name: NAME, definition: '' }]);
  await schema.delete();
  expect((await refusal(schema.get())).code).toBe(NOT_FOUND);
  expect((await refusal(schema.delete())).code).toBe(NOT_FOUND);
});

test('definitions and messages are validated without being kept', async () => {
  const schema = await create();
  const definition = { type: SchemaTypes.Avro, definition: avro() };
  await pubsub.client.validateSchema(definition);
  const bad = { ...definition, definition: '{"not_actually":"avro"}' };
  expect((await refusal(pubsub.client.validateSchema(bad))).code).toBe(INVALID_ARGUMENT);
  const good = Buffer.from('{"name":"Oslo"}').toString('base64');
  await schema.validateMessage(good, Encodings.Json);
  const inline = { parent: PROJECT, schema: { type: 'AVRO' as const, definition: avro() } };
  const encoding = 'BINARY' as const;
  await schemas.validateMessage({ ...inline, message: Buffer.from([2, 0x61]), encoding });
  expect(await refusal(schema.validateMessage(good, Encodings.Binary))).toEqual({
    code: INVALID_ARGUMENT,
    details: 'Invalid data in message: Message failed schema validation.',
  });
  expect(
    (await refusal(schemas.validateMessage({ ...inline, message: Buffer.from('{}'), encoding }))).code,
  ).toBe(INVALID_ARGUMENT);
});

test('a topic accepts messages that match its schema and names the schema in each; one mismatch refuses the whole request', async () => {
  await create();
  const [topic] = await topicWith();
  expect(topic.schemaSettings).toMatchObject({ schema: NAME, encoding: 'JSON' });
  await subscribe();
  await publish('{"name":"Oslo"}');
  const [received] = await pull();
  expect(received?.attributes).toEqual({
    googclient_schemaencoding: 'JSON',
    googclient_schemaname: NAME,
    googclient_schemarevisionid: (await pubsub.client.schema('city').get()).revisionId,
  });
  const messages = ['{"name":"Bergen"}', '{"foo":"bar"}'].map((data) => ({ data: Buffer.from(data) }));
  const refused = await pubsub.publisher.publish({ topic: TOPIC, messages }).catch((error) => error);
  expect(refused).toMatchObject({
    code: INVALID_ARGUMENT,
    reason: 'INVALID_JSON_AVRO_MESSAGE',
    errorInfoMetadata: { revisionInfo: expect.stringContaining(NAME) },
  });
  expect(await pull()).toEqual([]);
});

test('revisions are committed, listed newest first, rolled back and deleted; a topic names the revisions that apply', async () => {
  const first = String((await (await create()).get()).revisionId);
  const [second] = await commit();
  expect((await refusal(commit(avro({ name: 'count', type: 'long' })))).code).toBe(INVALID_ARGUMENT);
  await topicWith({ lastRevisionId: first });
  await subscribe();
  await publish('{"name":"Oslo","note":null}');
  await pubsub.publisher.updateTopic({
    topic: {
      name: TOPIC,
      schemaSettings: { schema: NAME, encoding: 'JSON', firstRevisionId: String(second.revisionId) },
    },
    updateMask: { paths: ['schema_settings'] },
  });
  await publish('{"name":"Oslo","note":null}');
  const only = { name: TOPIC, schemaSettings: { firstRevisionId: 'ffffffff', lastRevisionId: first } };
  const last = { topic: only, updateMask: { paths: ['schema_settings.last_revision_id'] } };
  expect((await refusal(pubsub.publisher.updateTopic(last))).details).toMatch(/must not be newer/);
  const revisions = (await pull()).map(({ attributes }) => attributes?.googclient_schemarevisionid);
  expect(revisions).toEqual([first, second.revisionId]);

  const remove = (revision: unknown) => schemas.deleteSchemaRevision({ name: `${NAME}@${revision}` });
  const [back] = await schemas.rollbackSchema({ name: NAME, revisionId: first });
  expect(back).toMatchObject({ definition: avro() });
  const listed = async (pageSize = 0) =>
    (await schemas.listSchemaRevisions({ name: NAME, pageSize }))[0].map(({ revisionId }) => revisionId);
  expect(await listed()).toEqual([back.revisionId, second.revisionId, first]);
  expect((await remove(first))[0]).toMatchObject({ revisionId: first, definition: avro() });
  expect(await listed(1)).toEqual([back.revisionId, second.revisionId]);
  expect((await refusal(schemas.getSchema({ name: `${NAME}@${first}` }))).code).toBe(NOT_FOUND);
  expect((await schemas.getSchema({ name: `${NAME}@${second.revisionId}` }))[0].definition).toBe(avro(NOTE));
  await pubsub.publisher.deleteTopic({ topic: TOPIC });
  await remove(second.revisionId);
  expect((await refusal(remove(back.revisionId))).code).toBe(INVALID_ARGUMENT);
});

test('a topic keeps the place of a deleted revision that it names, also when its other settings change', async () => {
  const kept = storage();
  await schemas.close();
  await pubsub.stop();
  pubsub = await startPubsub(kept);
  schemas = connect(pubsub);
  const first = String((await (await create()).get()).revisionId);
  const [second] = await commit();
  await topicWith({ firstRevisionId: first, lastRevisionId: String(second.revisionId) });
  await commit();
  await schemas.deleteSchemaRevision({ name: `${NAME}@${second.revisionId}` });
  await pubsub.publisher.updateTopic({
    topic: { name: TOPIC, schemaSettings: { encoding: 'BINARY' } },
    updateMask: { paths: ['schema_settings.encoding'] },
  });
  await schemas.close();
  await pubsub.stop();
  pubsub = await startPubsub(kept);
  schemas = connect(pubsub);
  expect((await pubsub.publisher.getTopic({ topic: TOPIC }))[0].schemaSettings).toMatchObject({
    encoding: 'BINARY',
    firstRevisionId: first,
    lastRevisionId: '_deleted-schema-revision_',
  });
  const missing = { name: TOPIC, schemaSettings: { lastRevisionId: String(second.revisionId) } };
  const updateMask = { paths: ['schema_settings.last_revision_id'] };
  expect((await refusal(pubsub.publisher.updateTopic({ topic: missing, updateMask }))).code).toBe(NOT_FOUND);
});

test('schemas survive a restart; a topic whose schema was deleted refuses all messages', async () => {
  const kept = storage();
  const again = async () => {
    await schemas.close();
    await pubsub.stop();
    pubsub = await startPubsub(kept);
    schemas = connect(pubsub);
  };
  await again();
  await create();
  await commit();
  await topicWith();
  await again();
  expect((await schemas.listSchemaRevisions({ name: NAME }))[0]).toHaveLength(2);
  expect((await refusal(publish('{"foo":"bar"}'))).code).toBe(INVALID_ARGUMENT);
  await pubsub.client.schema('city').delete();
  await again();
  const [topic] = await pubsub.publisher.getTopic({ topic: TOPIC });
  expect(topic.schemaSettings?.schema).toBe('_deleted-schema_');
  expect((await refusal(publish('{"name":"Oslo"}'))).code).toBe(NOT_FOUND);
});

test('a dead letter refused by the schema of its topic stays in its subscription', async () => {
  await create();
  const letters = `${PROJECT}/topics/letters`;
  await pubsub.publisher.createTopic({
    name: letters,
    schemaSettings: { schema: NAME, encoding: 'JSON' },
  });
  await pubsub.publisher.createTopic({ name: TOPIC });
  await subscribe({ deadLetterPolicy: { deadLetterTopic: letters, maxDeliveryAttempts: 5 } });
  await publish('no city');
  await publish('{"name":"Oslo"}');
  for (let attempt = 1; attempt <= 5; attempt++) {
    await modify(0, ...(await pull()).map(({ ackId }) => ackId));
  }
  expect((await pull()).map(({ data }) => data)).toEqual(['no city']);
});

test.each<[string, () => Promise<unknown>, status]>([
  ['a topic of a missing schema', () => topicWith(), NOT_FOUND],
  ['a topic without an encoding', () => create().then(() => topicWith({ encoding: 0 })), INVALID_ARGUMENT],
  [
    'a revision there is not',
    () => create().then(() => topicWith({ firstRevisionId: '0123abcd' })),
    NOT_FOUND,
  ],
  ['a schema of no type', () => schemas.createSchema({ parent: PROJECT, schema: {} }), INVALID_ARGUMENT],
  [
    'a schema over 300 KiB',
    () => pubsub.client.createSchema('city', SchemaTypes.Avro, avro({ doc: 'x'.repeat(300 * 1024) })),
    INVALID_ARGUMENT,
  ],
  ['a commit to nothing', () => commit(), NOT_FOUND],
])('%s is refused', async (_what, call, code) => {
  expect((await refusal(call())).code).toBe(code);
});
