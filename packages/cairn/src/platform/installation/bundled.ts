/** Refuses a bundle in which the package does not find its own files. Without that the functions are deployed, and every request fails. */

/**
 * @param ownUrl `import.meta.url` of a module of this package: bundlers leave it undefined in CommonJS
 * @throws Error that says how to leave the package out
 */
export function assertFindsFiles(ownUrl: string | undefined): void {
  if (ownUrl !== undefined) return;
  throw new Error(
    "cairnFunctions: the package 'cairn' is part of a bundle, in which it does not find its own files. Leave it out, as by --external:cairn of esbuild " +
      "or external: ['cairn'] of others; functions load it from node_modules, also when they are deployed",
  );
}
