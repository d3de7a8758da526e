/** Errors as text for the author of the functions: of those that cannot be loaded, and of a step. Pure. */
import { fileURLToPath } from 'node:url';

/** Frames of the author's code that are shown. */
const MAX_FRAMES = 5;
/** The folder of Cairn's packages; below `node_modules` where they are installed. */
const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Shortens an error to its message and the frames in the project, without those of Cairn, Node and packages; paths begin at the
 * project's folder.
 *
 * @param text error of a worker, with a stack
 *
 * @param more text after the number of omitted frames; absent: the number is not shown
 */
export function readableError(text: string, root: string, more?: string): string {
  const lines = text.replace(/^the functions could not be loaded:\n/, '').split('\n');
  const all = lines.filter(isFrame);
  const frames = ownOf(all);
  const shownLines = lines.filter((line) => !isFrame(line) || frames.includes(line));
  const left = all.length - frames.length;
  if (more !== undefined && left > 0)
    shownLines.push(`    … ${left} ${left === 1 ? 'frame' : 'frames'} of Cairn, Node and packages ${more}`);
  return shownLines
    .join('\n')
    .replace(/^CairnError: /, '')
    .replaceAll(`file://${root}/`, '')
    .replaceAll(`${root}/`, '')
    .trim();
}

/**
 * The frames of a stack that are the author's, without the message: as `readableError` shows them.
 *
 * @param root folder at which paths begin; undefined: they are whole
 */
export function ownFrames(stack: string, root: string | undefined): readonly string[] {
  return ownOf(stack.split('\n').filter(isFrame)).map((frame) => {
    const path = frame.replaceAll('file://', '');
    return `    ${(root === undefined ? path : path.replaceAll(`${root}/`, '')).trim()}`;
  });
}

const isFrame = (line: string) => /^\s+at /.test(line);

const ownOf = (frames: readonly string[]) => frames.filter(isOwn).slice(0, MAX_FRAMES);

function isOwn(frame: string): boolean {
  if (frame.includes('node:') || frame.includes('/node_modules/') || frame.includes(PACKAGES)) return false;
  return /\/[^/]+:\d+:\d+\)?$/.test(frame);
}

/** Node names no file for a syntax error in JavaScript: it is one of the changed files. */
export function namesNoFile(text: string): boolean {
  return /^(?:the functions could not be loaded:\n)?SyntaxError: /.test(text);
}
