/** The error text for functions that cannot be loaded, written for their author. Pure. */

/** Frames of the stack that are the author's, the first few. */
const MAX_FRAMES = 5;

/**
 * Shortens an error to its message and the frames in the project, without those of Node and of packages; paths begin at the project's folder.
 *
 * @param text what a worker said, with a stack
 */
export function readableError(text: string, root: string): string {
  const lines = text.replace(/^the functions could not be loaded:\n/, '').split('\n');
  const isFrame = (line: string) => /^\s+at /.test(line);
  const frames = lines.filter((line) => isFrame(line) && isOwn(line)).slice(0, MAX_FRAMES);
  const kept = lines.filter((line) => !isFrame(line) || frames.includes(line));
  return kept.join('\n').replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '').trim();
}

function isOwn(frame: string): boolean {
  return !frame.includes('node:') && !frame.includes('/node_modules/') && /\/[^/]+:\d+:\d+\)?$/.test(frame);
}

/** Node names no file for a mistake in JavaScript: it is one of those that were just changed. */
export function namesNoFile(text: string): boolean {
  return /^(?:the functions could not be loaded:\n)?SyntaxError: /.test(text);
}
