import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export const root = join(import.meta.dirname, '..', '..', '..');

export interface Import {
  /** A path from the root of the repository, or a package or Node module as written. */
  target: string;
  isLocal: boolean;
  /** `import type` and `export type`, which do not exist at run time. */
  isTypeOnly: boolean;
  /** The names in braces; empty if everything or a default is imported. */
  names: string[];
}

const IMPORT =
  /^\s*(?:import|export)\s+(type\s)?(?:([^'"`;]*?)\bfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

/** Paths from the root of the repository. */
export const sourcesIn = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: root }).toSorted();

const parsed = new Map<string, Import[]>();

export function importsOf(file: string): Import[] {
  const known = parsed.get(file) ?? parseImports(readFileSync(join(root, file), 'utf8'), file);
  parsed.set(file, known);
  return known;
}

/** What the source of `file` imports, re-exports or loads by name. */
export function parseImports(source: string, file: string): Import[] {
  return Array.from(source.matchAll(IMPORT), ([, type, clause, from, loaded]) => {
    const written = from ?? loaded ?? '';
    const isLocal = written.startsWith('.');
    const target = isLocal ? normalize(join(dirname(file), written)) : written;
    const names = /^\{([^}]*)\}\s*$/.exec(clause ?? '')?.[1]?.split(',') ?? [];
    return {
      target,
      isLocal,
      isTypeOnly: type !== undefined,
      names: names.map((name) => name.trim()).filter((name) => name !== ''),
    };
  });
}

/** How `file` reaches something `isWanted` at run time: the files on the way and what was found; empty if not. */
export function wayTo(
  isWanted: (found: Import) => boolean,
  file: string,
  seen = new Set<string>(),
): string[] | undefined {
  seen.add(file);
  for (const found of importsOf(file).filter(({ isTypeOnly }) => !isTypeOnly)) {
    const { target, isLocal } = found;
    if (isWanted(found)) return [file, target];
    if (!isLocal || seen.has(target) || !existsSync(join(root, target))) continue;
    const way = wayTo(isWanted, target, seen);
    if (way !== undefined) return [file, ...way];
  }
  return undefined;
}
