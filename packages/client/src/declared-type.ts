/**
 * Workflow that declares the type of a run. A part of a long loop has a type of its own, `import-all.pages`: it is derived from the
 * workflow with the loop, and has neither a page nor starts of its own.
 */
export function declaredType(type: string): string {
  const [declared = type] = type.split('.');
  return declared;
}
