import { type NodePath, parseSync, traverse, types } from '@babel/core';
import type { Mutant } from './mutant.ts';
import { OPERATORS } from './operators.ts';

/** All mutants of a source file, in text order. `file` is the path from the root. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const mutants = file.endsWith('.ts') ? mutantsOfProgram(file, text) : mutantsOfUnit(file, text);
  return mutants.sort((a, b) => a.start - b.start || a.end - b.end);
}

function mutantsOfProgram(file: string, text: string): Mutant[] {
  const program = parseSync(text, {
    babelrc: false,
    configFile: false,
    filename: file,
    parserOpts: { sourceType: 'module', plugins: ['typescript'] },
  });
  if (program === null) throw new Error(`${file} was not parsed`);
  const mutants = new Map<string, Mutant>();
  traverse(program, {
    enter(path) {
      if (isTypeOnly(path.node) || isSentence(path.node)) return path.skip();
      for (const mutant of mutantsAt(path, file, text)) {
        mutants.set(`${mutant.start} ${mutant.end} ${mutant.replacement}`, mutant);
      }
    },
  });
  return [...mutants.values()];
}

function mutantsAt(path: NodePath, file: string, text: string): Mutant[] {
  const { start, end } = path.node;
  if (typeof start !== 'number' || typeof end !== 'number') return [];
  const textOf = (node: types.Node) => text.slice(node.start ?? 0, node.end ?? 0);
  return Object.entries(OPERATORS).flatMap(([operator, changes]) =>
    changes(path, textOf)
      .map(({ replacement, range = [start, end] }) => ({
        file,
        operator,
        start: range[0],
        end: range[1],
        replacement,
      }))
      .filter((mutant) => text.slice(mutant.start, mutant.end) !== mutant.replacement),
  );
}

/** Types are not executed; imports are not behaviour. */
function isTypeOnly(node: types.Node): boolean {
  return (
    types.isTSType(node) ||
    types.isTSTypeAnnotation(node) ||
    types.isTSInterfaceDeclaration(node) ||
    types.isTSTypeAliasDeclaration(node) ||
    types.isTSTypeParameterInstantiation(node) ||
    types.isTSTypeParameterDeclaration(node) ||
    types.isImportDeclaration(node) ||
    types.isExportAllDeclaration(node) ||
    (types.isExportNamedDeclaration(node) && node.source !== null && node.source !== undefined)
  );
}

/** Text for people: a template that contains words. */
function isSentence(node: types.Node): boolean {
  return types.isTemplateLiteral(node) && node.quasis.some(({ value }) => /\s/.test(value.raw));
}

/** Mutants of a unit file, each without one of its lines; section names and comments are kept. */
function mutantsOfUnit(file: string, text: string): Mutant[] {
  return [...text.matchAll(/^[^#;[\s][^\n]*\n/gm)].map(({ 0: line, index }) => ({
    file,
    operator: 'line',
    start: index,
    end: index + line.length,
    replacement: '',
  }));
}
