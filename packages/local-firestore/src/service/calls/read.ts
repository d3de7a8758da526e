/** BatchGetDocuments, and the encoding of documents for readers. */
import { fromMicros } from '@cairn/local-kit/wire/timestamp';
import type { FieldPath } from '../../model/field-path.ts';
import { parseDatabase, parseDocument } from '../../model/resource-name.ts';
import type { StoredDocument } from '../../storage/document-storage.ts';
import { encodeDocument } from '../../wire/document-codec.ts';
import { projectedBody } from '../../wire/projection.ts';
import { decodeMask, type WireMask } from '../../wire/write-codec.ts';
import { runOfBody } from '../metering.ts';
import type { CallContext } from './call.ts';
import { reading, type WireConsistency } from './consistency.ts';

interface BatchGetRequest extends WireConsistency {
  readonly database: string;
  readonly documents: readonly string[];
  readonly mask?: WireMask | null;
}

export async function batchGet(
  request: BatchGetRequest,
  { store, meter }: CallContext,
): Promise<Iterable<object>> {
  const database = store.databases.get(parseDatabase(request.database));
  // Duplicate names get one answer.
  const names = [...new Set(request.documents)];
  const documents = names.map((name) => ({
    name,
    segments: parseDocument(name, database.name).segments,
  }));
  const mask = request.mask ? decodeMask(request.mask) : undefined;
  return reading(
    store,
    { database: database.name, wire: request },
    async ({ transaction, snapshot, begun }) => {
      const answers: object[] = await store.read(transaction, names, () => {
        const readTime = fromMicros(snapshot?.time ?? database.readTime());
        const found: object[] = [];
        const missing: object[] = [];
        for (const address of documents) {
          const { name } = address;
          const stored = database.get(address, snapshot);
          meter.read('BatchGetDocuments', name, runOfBody(name, stored?.body));
          if (stored) found.push({ found: encodeFound(stored, mask), readTime });
          else missing.push({ missing: name, readTime });
        }
        // The order of responses is not documented; production reports missing documents last.
        return [...found, ...missing];
      });
      return begun ? [{ transaction: begun }, ...answers] : answers;
    },
  );
}

export function encodeFound(stored: StoredDocument, mask: readonly FieldPath[] | undefined): Buffer {
  const body = mask ? projectedBody(stored.body, mask) : stored.body;
  return encodeDocument(body, stored.createTime, stored.updateTime);
}
