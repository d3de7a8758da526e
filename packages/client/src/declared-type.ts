/**
 * Workflow that declares the type of a run. A part of a long loop has a derived type, such as `import-all.pages`, which has no
 * page and cannot be started by itself.
 */
export function declaredType(type: string): string {
  const [declared = type] = type.split('.');
  return declared;
}
