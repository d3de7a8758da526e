import { describe, expect, test } from '@jest/globals';
import { realServices } from '../../../packages/local/src/host/real-services.ts';

const codebase = { projectId: 'shop-prod', eventTypes: [] as string[], firebaseJson: {}, env: {} };
const STORAGE = 'Cloud Storage';
const DATABASE = 'the Realtime Database';
const namesOf = (changed: Partial<Parameters<typeof realServices>[0]>) => [
  ...realServices({ ...codebase, ...changed }).keys(),
];

describe('a service of a real project is reported', () => {
  test.each([
    ['google.storage.object.finalize', STORAGE],
    ['google.cloud.storage.object.v1.finalized', STORAGE],
    ['providers/google.firebase.database/eventTypes/ref.write', DATABASE],
    ['google.firebase.database.ref.v1.written', DATABASE],
  ])('if a function is for its events: %s', (type, name) => {
    expect(namesOf({ eventTypes: [type] })).toEqual([name]);
  });

  test('if firebase.json names it', () => {
    expect(namesOf({ firebaseJson: { storage: {}, database: {} } })).toEqual([STORAGE, DATABASE]);
  });

  test('with its project and what to set', () => {
    expect(realServices({ ...codebase, firebaseJson: { storage: {} } }).get(STORAGE)).toBe(
      "functions that use Cloud Storage reach that of the project 'shop-prod', if this machine has credentials for it. " +
        'Start with FIREBASE_STORAGE_EMULATOR_HOST=127.0.0.1:9199 for an emulator there, or with a project of the prefix demo-.',
    );
  });
});

describe('no service is reported', () => {
  const firebaseJson = { storage: {}, database: {} };

  test('that nothing shows to be used', () => {
    const eventTypes = ['google.cloud.firestore.document.v1.created', 'blockingTrigger'];
    expect(namesOf({ eventTypes, firebaseJson: { hosting: {} } })).toEqual([]);
  });

  test('of a project that does not exist', () => {
    expect(namesOf({ projectId: 'demo-shop', firebaseJson })).toEqual([]);
  });

  test.each(['FIREBASE_STORAGE_EMULATOR_HOST', 'STORAGE_EMULATOR_HOST'])(
    'with the emulator of %s',
    (name) => {
      expect(namesOf({ firebaseJson, env: { [name]: '127.0.0.1:9199' } })).toEqual([DATABASE]);
    },
  );
});
