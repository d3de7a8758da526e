/** `indexes`: the entries of `firestore.indexes.json` for the prefix of an installation. Asks no API. */
import { command } from '../arguments/command.ts';
import { UsageError } from '../exit.ts';

export const indexes = command({
  name: 'indexes',
  summary: 'Print the firestore.indexes.json that an installation needs',
  details:
    'Indexes, exemptions from indexing and TTL policies of the collections with that prefix. In a database that an app\nshares, add the entries to those of the app: they name no other collections.',
  options: {
    prefix: {
      type: 'text',
      value: 'PREFIX',
      help: 'prefix of the collections (default gwi_)',
    },
  },
  examples: [
    [
      'indexes --prefix cairn_ > firestore.indexes.json',
      'of functions exported as cairn, in a database of their own',
    ],
  ],
  async run({ out }, { options: { prefix = 'gwi_' } }) {
    // Loaded on demand: no other command needs the engine.
    const { firestoreIndexes } = await import('cairn/indexes');
    out.print(`${JSON.stringify(indexesOf(prefix, firestoreIndexes), null, 2)}\n`);
    return undefined;
  },
});

/** @throws UsageError for an invalid prefix */
function indexesOf<T>(prefix: string, make: (prefix: string) => T): T {
  try {
    return make(prefix);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
