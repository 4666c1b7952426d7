import type { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { suggest } from '../../lib/base/errors/suggest.ts';
import { tableLines } from '../../lib/base/table.ts';
import { schemaAt, schemaMessageOf } from '../../lib/config/file/message.ts';
import { siteConfigSchema } from '../../lib/config/site-config/schema.ts';
import { NOT_SUPPORTED } from '../install-config/not-supported.ts';
import { installConfigSchema } from '../install-config/schema.ts';
import type { Surroundings } from '../surroundings.ts';
import { type Field, fieldsOf } from './config-fields.ts';
import { installConfigJsonSchema, siteConfigJsonSchema } from './config-schemas.ts';

interface Explained {
  readonly schema: z.ZodType;
  readonly fields: () => Field[];
  /** Fields of others, each with what to write instead. */
  readonly refused: ReadonlyMap<string, string>;
}

/** The files whose fields are explained. */
const FILES: Readonly<Record<string, Explained>> = {
  'install-config': {
    schema: installConfigSchema,
    fields: () => fieldsOf(installConfigJsonSchema(), ''),
    refused: new Map(NOT_SUPPORTED),
  },
  'site-config': {
    schema: siteConfigSchema,
    fields: () => fieldsOf(siteConfigJsonSchema(), ''),
    refused: new Map(),
  },
};

/** Subcommands of "sno explain", for a name that is close to one. */
const COMMANDS = ['topology', 'versions', ...Object.keys(FILES)];

/** `sno explain install-config.FIELD`, and of site-config. @throws Failure (usage) for another name */
export function explainField(name: string, { print }: Pick<Surroundings, 'print'>): void {
  const [, file = '', path = ''] = /^([^.]*)(?:\.yaml)?(?:\.(.*))?$/s.exec(name) ?? [];
  const explained = Object.hasOwn(FILES, file) ? FILES[file] : undefined;
  if (explained === undefined) {
    const near = suggest(file, COMMANDS);
    throw new Failure('usage', `there is nothing to explain about ${name.slice(0, 80)}`, {
      expected: 'topology, versions, install-config.FIELD or site-config.FIELD',
      ...(near === undefined ? {} : { fix: `Did you mean ${near}?` }),
    });
  }
  // A list is meant by its name too: compute.replicas is compute[].replicas.
  const plain = (text: string) => text.replace(/\[\d*\]/g, '');
  const fields = explained.fields();
  const own = fields.find((each) => plain(each.path) === plain(path));
  const below = fields.filter(
    (each) => path === '' || plain(each.path).startsWith(`${plain(path)}.`),
  );
  if (own === undefined && path !== '') throw unknownField(file, path, fields, explained);
  if (own !== undefined) for (const line of fieldLines(own, explained)) print(line);
  if (below.length === 0) return;
  if (own !== undefined) print('');
  const rows = below.map((each) => [each.path, each.isRequired ? 'required' : '', each.expected]);
  for (const line of tableLines([['FIELD', '', 'VALUE'], ...rows])) print(line);
}

function fieldLines({ path, isRequired, expected }: Field, { schema }: Explained): string[] {
  const parts = path.split('.').flatMap((part) => {
    const name = part.replaceAll('[]', '');
    return [name, ...Array.from(part.matchAll(/\[\]/g), () => 0)];
  });
  const fix = schemaMessageOf(schemaAt(schema, parts))?.fix;
  return [
    path,
    `  value:    ${expected}`,
    `  required: ${isRequired ? 'yes, if its parent is there' : 'no'}`,
    ...(fix === undefined || fix === '' ? [] : [`  advice:   ${fix}`]),
  ];
}

function unknownField(
  file: string,
  path: string,
  fields: readonly Field[],
  { refused }: Explained,
): Failure {
  const instead = refused.get(path);
  const near =
    suggest(
      path,
      fields.map((each) => each.path),
    ) ?? lastName(path, fields);
  const what = `${file}.yaml has no field ${path.slice(0, 80)}`;
  if (instead !== undefined && instead !== '') {
    return new Failure('usage', what, { fix: `Write ${instead} instead.` });
  }
  return new Failure('usage', what, {
    fix: near === undefined ? `"sno explain ${file}" lists them.` : `Did you mean ${file}.${near}?`,
  });
}

/** `installationDisk` alone is enough where only one field has that name. */
function lastName(path: string, fields: readonly Field[]): string | undefined {
  const [only, another] = fields.filter((each) => each.path.split('.').at(-1) === path);
  return another === undefined ? only?.path : undefined;
}
