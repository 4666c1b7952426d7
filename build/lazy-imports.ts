import { type NodePath, type PluginObject, transformAsync, types } from '@babel/core';
import toCommonJs from '@babel/plugin-transform-modules-commonjs';

/** Prefix of a package import that lists the names used: `used:a,b:package`. */
export const USED = 'used:';

/**
 * Converts an ES module to CommonJS that loads each import on first use of one of its names: an
 * agent only evaluates the steps that it runs and the packages that they need. This changes the
 * order of evaluation, so a module must not rely on another one's side effects on the process
 * while loading; `import 'x'` without names is still evaluated first.
 *
 * `only` keeps one property of the exported object of that name, and drops imports that only
 * the others used.
 */
export async function lazyImports(
  source: string,
  only?: { object: string; property: string },
): Promise<string> {
  const result = await transformAsync(source, {
    plugins: [
      ...(only === undefined ? [] : [keepProperty(only)]),
      usedNames,
      [toCommonJs, { lazy: () => true, noInterop: true, strictMode: true }],
    ],
    configFile: false,
    babelrc: false,
    sourceType: 'module',
  });
  if (typeof result?.code !== 'string') throw new Error('Babel produced no code');
  return result.code;
}

/** Records the names used of a package in its import, so that the bundler drops the rest. */
const usedNames = (): PluginObject => ({
  name: 'used-names',
  visitor: {
    Program(program) {
      for (const declaration of program.get('body')) {
        if (!declaration.isImportDeclaration()) continue;
        const { source, specifiers } = declaration.node;
        if (/^(\.|node:)/.test(source.value) || specifiers.length === 0) continue;
        if (source.value === 'zod') openZod(declaration);
        const names = namesOf(declaration);
        if (names !== undefined) source.value = `${USED}${names.join(',')}:${source.value}`;
      }
      program.scope.crawl();
    },
  },
});

/** `import { z }` is documented as equivalent to `import * as z`, whose unused parts can be dropped. */
function openZod(declaration: NodePath<types.ImportDeclaration>): void {
  declaration.node.specifiers = declaration.node.specifiers.map((specifier) =>
    types.isImportSpecifier(specifier) && importedName(specifier) === 'z'
      ? types.importNamespaceSpecifier(specifier.local)
      : specifier,
  );
  declaration.scope.getProgramParent().crawl();
}

/** Undefined if the module itself is used as a value, which requires all its names. */
function namesOf(declaration: NodePath<types.ImportDeclaration>): string[] | undefined {
  const names = new Set<string>();
  for (const specifier of declaration.node.specifiers) {
    if (types.isImportDefaultSpecifier(specifier)) names.add('default');
    else if (types.isImportSpecifier(specifier)) names.add(importedName(specifier));
    else {
      const references = declaration.scope.getBinding(specifier.local.name)?.referencePaths ?? [];
      for (const { parent, key } of references) {
        const isName = types.isMemberExpression(parent) && key === 'object' && !parent.computed;
        if (!isName || !types.isIdentifier(parent.property)) return undefined;
        names.add(parent.property.name);
      }
    }
  }
  return [...names];
}

function importedName({ imported }: types.ImportSpecifier): string {
  return types.isIdentifier(imported) ? imported.name : imported.value;
}

function keepProperty({ object, property }: { object: string; property: string }) {
  return (): PluginObject => ({
    name: 'keep-property',
    visitor: {
      Program(program) {
        let kept = 0;
        program.traverse({
          VariableDeclarator({ node: { id, init } }) {
            if (!types.isIdentifier(id, { name: object }) || !types.isObjectExpression(init))
              return;
            init.properties = init.properties.filter(
              (entry) => types.isObjectProperty(entry) && keyOf(entry) === property,
            );
            kept = init.properties.length;
          },
        });
        if (kept !== 1) throw new Error(`${object} has no property ${property}`);
        program.scope.crawl();
        for (const statement of program.get('body')) {
          if (!statement.isImportDeclaration()) continue;
          const isUsed = statement.node.specifiers.some(
            ({ local }) => program.scope.getBinding(local.name)?.referenced === true,
          );
          if (!isUsed) statement.remove();
        }
      },
    },
  });
}

function keyOf({ key }: types.ObjectProperty): string | undefined {
  if (types.isIdentifier(key)) return key.name;
  return types.isStringLiteral(key) ? key.value : undefined;
}
