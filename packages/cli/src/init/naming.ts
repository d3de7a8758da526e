/** Names the commands of `init`. Pure. */

/** Name of an installation without `--name`. */
export const DEFAULT_NAME = 'cairn';

/** `cairn init …` for the installation of that name. */
export function initOf(name: string, option?: '--undo'): string {
  const words = [
    'cairn init',
    ...(option ? [option] : []),
    ...(name === DEFAULT_NAME ? [] : [`--name ${name}`]),
  ];
  return words.join(' ');
}
