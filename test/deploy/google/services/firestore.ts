/** Firestore's administration: databases, indexes, fields, and the rules. */

import { fieldsOf } from '../masks.ts';
import type { Fields, Google, Json } from '../model.ts';
import { created, existing, Refusal, type Route } from '../route.ts';

const HOST = 'firestore.googleapis.com';
const RULES = 'firebaserules.googleapis.com';
const DATABASE = '(?<database>projects\\/[^/]+\\/databases\\/[^/]+)';

/** Indexes of a missing database cannot be listed or made. */
function checkDatabase({ databases }: Google, name: string): void {
  existing(databases, name);
}

/** Google adds the name of the document to each index, in the order of the last field. */
function named(body: Json | undefined): Fields {
  const { fields } = fieldsOf(body);
  const all = Array.isArray(fields) ? fields.map(fieldsOf) : [];
  if (all.at(-1)?.fieldPath === '__name__') return fieldsOf(body);
  const order = all.findLast((field) => field.order !== undefined)?.order ?? 'ASCENDING';
  return { ...fieldsOf(body), fields: [...all, { fieldPath: '__name__', order }] };
}

/** A release needs a set of rules. */
function checkedRelease({ rulesets }: Google, release: Fields): Fields {
  if (rulesets[String(release.rulesetName)]) return release;
  throw new Refusal(400, 'INVALID_ARGUMENT', `Invalid ruleset name: ${release.rulesetName}`);
}

export const firestore: readonly Route[] = [
  {
    host: HOST,
    method: 'GET',
    path: new RegExp(`^/v1/${DATABASE}$`),
    needs: 'datastore.databases.getMetadata',
    answer: ({ databases }, { database = '' }) => existing(databases, database),
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1\/(?<project>projects\/[^/]+)\/databases$/,
    needs: 'datastore.databases.create',
    answer: (google, { project }, { body, url }) => {
      const name = `${project}/databases/${url.searchParams.get('databaseId')}`;
      google.databases[name] = { ...fieldsOf(body), name };
      return { name: `${name}/operations/1`, done: true, response: google.databases[name] };
    },
  },
  {
    host: HOST,
    method: 'GET',
    path: new RegExp(`^/v1/${DATABASE}/operations/[^/]+$`),
    answer: (_google, _groups, { url }) => ({
      name: url.pathname.slice('/v1/'.length),
      done: true,
      response: {},
    }),
  },
  {
    host: HOST,
    method: 'GET',
    path: new RegExp(`^/v1/${DATABASE}/collectionGroups/-/indexes$`),
    needs: 'datastore.indexes.list',
    answer: (google, { database = '' }) => {
      checkDatabase(google, database);
      const own = Object.entries(google.indexes).filter(([name]) => name.startsWith(`${database}/`));
      return { indexes: own.map(([, index]) => index) };
    },
  },
  {
    host: HOST,
    method: 'POST',
    path: new RegExp(`^/v1/${DATABASE}/collectionGroups/(?<group>[^/]+)/indexes$`),
    needs: 'datastore.indexes.create',
    answer: (google, { database = '', group }, { body }) => {
      checkDatabase(google, database);
      google.serial += 1;
      const name = `${database}/collectionGroups/${group}/indexes/${google.serial}`;
      google.indexes[name] = { ...named(body), name, state: 'READY' };
      return { name: `${database}/operations/${google.serial}`, done: true };
    },
  },
  {
    host: HOST,
    method: 'DELETE',
    path: /^\/v1\/(?<index>projects\/[^/]+\/databases\/[^/]+\/collectionGroups\/[^/]+\/indexes\/[^/]+)$/,
    needs: 'datastore.indexes.delete',
    answer: (google, { index = '' }) => {
      delete google.indexes[index];
      return {};
    },
  },
  {
    host: HOST,
    method: 'GET',
    path: new RegExp(`^/v1/${DATABASE}/collectionGroups/-/fields$`),
    answer: ({ fields }, { database = '' }) => ({
      fields: Object.values(fields).filter(({ name }) => String(name).startsWith(`${database}/`)),
    }),
  },
  {
    host: HOST,
    method: 'PATCH',
    path: /^\/v1\/(?<field>projects\/[^/]+\/databases\/[^/]+\/collectionGroups\/[^/]+\/fields\/[^/]+)$/,
    needs: 'datastore.indexes.update',
    answer: (google, { field = '' }, { body }) => {
      google.fields[field] = { ...google.fields[field], ...fieldsOf(body), name: field };
      return { name: `${field}/operations/1`, done: true };
    },
  },
  {
    host: RULES,
    method: 'POST',
    path: /^\/v1\/projects\/[^/]+:test$/,
    needs: 'firebaserules.rulesets.test',
    answer: () => ({ issues: [] }),
  },
  {
    host: RULES,
    method: 'GET',
    path: /^\/v1\/projects\/[^/]+\/releases$/,
    needs: 'firebaserules.releases.list',
    answer: ({ releases }) => ({ releases: Object.values(releases) }),
  },
  {
    host: RULES,
    method: 'GET',
    path: /^\/v1\/(?<ruleset>projects\/[^/]+\/rulesets\/[^/]+)$/,
    needs: 'firebaserules.rulesets.get',
    answer: ({ rulesets }, { ruleset = '' }) => existing(rulesets, ruleset),
  },
  {
    host: RULES,
    method: 'GET',
    path: /^\/v1\/projects\/[^/]+\/rulesets$/,
    needs: 'firebaserules.rulesets.list',
    answer: ({ rulesets }) => ({ rulesets: Object.values(rulesets) }),
  },
  {
    host: RULES,
    method: 'POST',
    path: /^\/v1\/(?<project>projects\/[^/]+)\/rulesets$/,
    needs: 'firebaserules.rulesets.create',
    answer: (google, { project }, { body }) => {
      google.serial += 1;
      const name = `${project}/rulesets/${google.serial}`;
      google.rulesets[name] = { ...fieldsOf(body), name };
      return google.rulesets[name];
    },
  },
  {
    host: RULES,
    method: 'PATCH',
    path: /^\/v1\/(?<release>projects\/[^/]+\/releases\/.+)$/,
    needs: 'firebaserules.releases.update',
    answer: (google, { release = '' }, { body }) => {
      existing(google.releases, release);
      google.releases[release] = checkedRelease(google, fieldsOf(fieldsOf(body).release));
      return google.releases[release];
    },
  },
  {
    host: RULES,
    method: 'POST',
    path: /^\/v1\/projects\/[^/]+\/releases$/,
    needs: 'firebaserules.releases.create',
    answer: (google, _groups, { body }) => {
      const release = fieldsOf(body);
      return created(google.releases, String(release.name), checkedRelease(google, release));
    },
  },
];
