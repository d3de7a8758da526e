import { afterAll, describe, expect, test } from '@jest/globals';
import { UndecodableDocument } from '../../packages/cairn/src/ports/store-errors.ts';
import { firestoreHarness } from '../conformance/support/harness.firestore.ts';

describe('a runtime configuration edited by hand', () => {
  const harness = firestoreHarness();
  afterAll(() => harness.close());

  test.each([
    [{ killSwitch: true }, { killSwitch: true, paused: new Map() }],
    [{ paused: {} }, { killSwitch: false, paused: new Map() }],
  ])('with %j is accepted', async (document, config) => {
    const { config: store } = await harness.make();
    await harness.db().doc('gwi_config/runtime').set(document);
    expect((await store.read())?.config).toEqual(config);
  });

  test.each([{ killSwitch: 'yes' }, { paused: true }, { paused: { 'a-type': {} } }])(
    'with %j is refused, because the intention must not be guessed',
    async (document) => {
      const { config: store } = await harness.make();
      await harness.db().doc('gwi_config/runtime').set(document);
      await expect(store.read()).rejects.toThrow(UndecodableDocument);
    },
  );
});
