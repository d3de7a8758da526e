/**
 * Parses the file operations of a traced process from the output of `strace -y -xx`. Pure. Only the main thread is traced, where
 * SQLite and synchronous file functions run.
 */

export type Operation =
  | { readonly kind: 'write'; readonly file: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  /** The content of a file, or the names in a folder, were written to disk. */
  | { readonly kind: 'sync'; readonly file: string }
  | { readonly kind: 'create'; readonly file: string }
  | { readonly kind: 'remove'; readonly file: string }
  /** A line on standard output. */
  | { readonly kind: 'print'; readonly text: string };

/** System calls that are traced. */
export const TRACED = 'openat,open,pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat';

const CALL = /^(\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+)/;
const FD = /^(\d+)<([^>]*)>/;

/** @param folder operations on other files are ignored @throws Error for an unknown operation in the folder */
export function operationsOf(trace: string, folder: string): Operation[] {
  return trace.split('\n').flatMap((line) => operationOf(line, folder) ?? []);
}

function operationOf(line: string, folder: string): Operation | undefined {
  const [, name = '', args = '', result = ''] = CALL.exec(line) ?? [];
  if (name === '' || Number(result) < 0) return undefined;
  const [, fd = '', path = ''] = FD.exec(args) ?? [];
  const file = decoded(path);
  const bytes = () => Buffer.from(decoded(/"((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? ''), 'latin1');
  if (name === 'write' && fd === '1') return { kind: 'print', text: bytes().toString('utf8') };
  if (name === 'openat' || name === 'open') {
    const opened = decoded(/"((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? '');
    if (!opened.startsWith(folder) || !args.includes('O_CREAT')) return undefined;
    return { kind: 'create', file: opened };
  }
  if (name === 'unlink' || name === 'unlinkat') {
    const removed = decoded(/"((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? '');
    return removed.startsWith(folder) ? { kind: 'remove', file: removed } : undefined;
  }
  if (!file.startsWith(folder)) return undefined;
  const last = Number(args.split(', ').at(-1));
  if (name === 'pwrite64')
    return { kind: 'write', file, at: last, bytes: bytes().subarray(0, Number(result)) };
  if (name === 'ftruncate') return { kind: 'truncate', file, size: last };
  if (name === 'fsync' || name === 'fdatasync') return { kind: 'sync', file };
  throw new Error(`the model of the disk does not know this call: ${line.slice(0, 120)}`);
}

const decoded = (text: string) =>
  text.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
