/** The run that was opened last from the list: Back returns to its row. Not kept over a reload. */
let opened: string | undefined;

export function openedRun(): string | undefined {
  return opened;
}

export function rememberOpened(id: string): void {
  opened = id;
}
