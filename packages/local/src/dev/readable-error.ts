/** Formats errors of loading and of steps for the author of the functions. Pure. */
import { fileURLToPath } from 'node:url';

/** Most frames of the author's code that are shown. */
const MAX_FRAMES = 5;
const MAX_CAUSES = 3;
/** The folder of Cairn's packages; inside `node_modules` if they are installed. */
const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Shortens an error to its message and the frames in the project, without those of Cairn, Node and packages. Paths are relative to
 * the project's folder.
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
 * The causes of an error, and the frames of the author's code in its stack, in the format of `readableError`, without the message.
 *
 * @param root folder to which paths are relative; undefined: paths are absolute
 */
export function causesAndFrames(stack: string, root: string | undefined): readonly string[] {
  const lines = stack.split('\n');
  return [...lines.filter(isCause).slice(0, MAX_CAUSES), ...ownOf(lines.filter(isFrame))].map((line) => {
    const path = line.replaceAll('file://', '');
    return `    ${(root === undefined ? path : path.replaceAll(`${root}/`, '')).trim()}`;
  });
}

/** Cairn puts these lines between the stacks of an error and its causes. */
const isCause = (line: string) => line.startsWith('caused by: ');

const isFrame = (line: string) => /^\s+at /.test(line);

const ownOf = (frames: readonly string[]) => frames.filter(isOwn).slice(0, MAX_FRAMES);

function isOwn(frame: string): boolean {
  if (frame.includes('node:') || frame.includes('/node_modules/') || frame.includes(PACKAGES)) return false;
  return /\/[^/]+:\d+:\d+\)?$/.test(frame);
}

/** True for a syntax error in JavaScript, for which Node names no file; one of the changed files has it. */
export function namesNoFile(text: string): boolean {
  return /^(?:the functions could not be loaded:\n)?SyntaxError: /.test(text);
}
