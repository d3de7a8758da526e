/** The documents that hold values outside the journal: chunks of payloads, memos, pages of snapshots, and logged lines. */
import type { StoredLine } from '../../core/logs/text.ts';
import { documentCodec, integer, kind, text } from './kinds.ts';

interface MemoDocument {
  readonly revision: number;
  readonly name: string;
  readonly value: string;
}

/** Part of a list of the run document, named by the SHA-256 of its text. */
interface PageDocument {
  readonly text: string;
}

const bytes = kind<Uint8Array>(
  (value) => value,
  (raw) => {
    if (raw instanceof Uint8Array) return raw;
    throw new Error('expected bytes');
  },
);

export const chunkCodec = documentCodec<{ readonly data: Uint8Array }>({ data: bytes });

/** `value` is canonical JSON text. */
export const memoCodec = documentCodec<MemoDocument>({ revision: integer, name: text, value: text });

export const pageCodec = documentCodec<PageDocument>({ text });

/** JSON text in any form: nothing compares it, and a body may log text that has no canonical form. */
const logLines = kind<readonly StoredLine[]>(
  (lines) => JSON.stringify(lines),
  (raw) => {
    const lines: unknown = JSON.parse(text.decode(raw));
    if (Array.isArray(lines)) return lines as StoredLine[];
    throw new Error('expected a list');
  },
);

export const segmentCodec = documentCodec<{ readonly lines: readonly StoredLine[] }>({ lines: logLines });
