/** Ends this process. Taken when the functions are loaded: a body may replace `process.exit`, and its instance must end all the same. */
export const exit: (code: number) => never = process.exit.bind(process);
