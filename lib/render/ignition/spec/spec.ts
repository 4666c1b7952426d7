import { z } from 'zod';
import { diskShapesOf, keepsPartitions } from './disks.ts';
import { luksOf } from './luks.ts';
import { isFetchable } from './url.ts';
import { flag, isGiven, isOnce, named, number, path, text, texts, web } from './values.ts';

/** The newest version that is known here: 3.5.0. */
export const NEWEST_SPEC = 5;

const SPECS = new Map<number, z.ZodType>();

/**
 * Every key of Ignition's spec 3.`minor`.0 with its type, and the rules that one entry has (config/v3_N/types of
 * Ignition's source; compared with Ignition in `test/integration/ignition/given-config.test.ts`). What more than one
 * entry has to do with, is judged in `../given-config.ts`.
 */
export function specOf(minor: number): z.ZodType {
  const spec = SPECS.get(minor) ?? makeSpec(minor);
  SPECS.set(minor, spec);
  return spec;
}

/** The first version knows no other one. */
const ofSha512 = z
  .string()
  .regex(/^sha512-/, 'is not sha512-<hex>')
  .optional();

const owner = z
  .strictObject({ id: number, name: text })
  .refine(({ id, name }) => id === undefined || !name, 'has both an id and a name')
  .optional();
const node = { path, overwrite: flag, user: owner, group: owner };

const link = z
  .strictObject({ ...node, target: z.string().min(1), hard: flag })
  .refine(
    ({ hard, user, group }) =>
      hard !== true || [user, group].every((owner) => Object.keys(owner ?? {}).length === 0),
    'is a hard link, whose owner Ignition does not set: remove user and group',
  );

const dropin = z.strictObject({ name: z.string(), contents: text });
const unit = z.strictObject({
  ...{ name: z.string(), enabled: flag, mask: flag, contents: text },
  dropins: z.array(dropin).optional(),
});

function makeSpec(minor: number): z.ZodType {
  const { resource, reference } = resourcesOf(minor);
  return z.strictObject({
    ignition: ignitionOf(minor, reference),
    ...(minor >= 3 ? { kernelArguments } : {}),
    passwd: passwdOf(minor),
    storage: z
      .strictObject({
        directories: z.array(z.strictObject({ ...node, mode: number })).optional(),
        files: z
          .array(
            z.strictObject({
              ...{ ...node, mode: number, contents: resource.optional() },
              append: z.array(resource).optional(),
            }),
          )
          .optional(),
        links: z.array(link).optional(),
        ...diskShapesOf(minor),
        ...(minor >= 2 ? { luks: named(luksOf(minor, resource), 'name').optional() } : {}),
      })
      .refine(keepsPartitions, {
        error: 'has one on a whole disk that gets partitions',
        path: ['filesystems'],
      })
      .optional(),
    systemd: z.strictObject({ units: z.array(unit).optional() }).optional(),
  });
}

/** What is fetched: the contents of files, and what is fetched as it is (configs, certificates). */
function resourcesOf(minor: number) {
  const header = z.strictObject({ name: z.string().min(1), value: z.string().min(1).optional() });
  const fetched = {
    source: z
      .string()
      .refine(
        (url) => url === '' || isFetchable(url, minor),
        'is not what Ignition fetches: expected a URL of data, http or https, with %20 for a blank',
      )
      .optional(),
    verification: z.strictObject({ hash: minor >= 1 ? text : ofSha512 }).optional(),
    ...(minor >= 1 ? { httpHeaders: named(header, 'name').optional() } : {}),
  };
  const resource = z
    .strictObject({ ...fetched, compression: text })
    .refine(({ source = '', httpHeaders }) => !isGiven(httpHeaders) || /^https?:/i.test(source), {
      error: 'are for a source of http or https alone',
      path: ['httpHeaders'],
    })
    .refine(({ source, verification }) => source !== undefined || !verification?.hash, {
      error: 'is missing, although there is a hash of it',
      path: ['source'],
    });
  // The first version knows no compression of what is fetched as it is.
  return { resource, reference: minor >= 1 ? resource : z.strictObject(fetched) };
}

function ignitionOf(minor: number, reference: z.ZodType<{ source?: string | undefined }>) {
  const references = named(
    reference.refine(({ source }) => source, { error: 'is missing', path: ['source'] }),
    'source',
  ).optional();
  const proxy = z.strictObject({
    ...{ httpProxy: web.optional(), httpsProxy: web.optional(), noProxy: texts },
  });
  const tls = z.strictObject({ certificateAuthorities: references });
  return z.strictObject({
    version: z.string(),
    config: z.strictObject({ merge: references, replace: reference.optional() }).optional(),
    timeouts: z.strictObject({ httpResponseHeaders: number, httpTotal: number }).optional(),
    security: z.strictObject({ tls: tls.optional() }).optional(),
    ...(minor >= 1 ? { proxy: proxy.optional() } : {}),
  });
}

const kernelArguments = z
  .strictObject({ shouldExist: texts, shouldNotExist: texts })
  .refine(
    ({ shouldExist = [], shouldNotExist = [] }) => isOnce([...shouldExist, ...shouldNotExist]),
    'has the same text twice',
  )
  .optional();

function passwdOf(minor: number) {
  const shouldExist = minor >= 2 ? { shouldExist: flag } : {};
  const user = z.strictObject({
    ...{ name: z.string(), passwordHash: text, sshAuthorizedKeys: texts, uid: number },
    ...{ gecos: text, homeDir: text, noCreateHome: flag, primaryGroup: text, groups: texts },
    ...{ noUserGroup: flag, noLogInit: flag, shell: text, system: flag, ...shouldExist },
  });
  const group = z.strictObject({
    ...{ name: z.string(), gid: number, passwordHash: text, system: flag, ...shouldExist },
  });
  return z
    .strictObject({
      users: named(user, 'name').optional(),
      groups: named(group, 'name').optional(),
    })
    .optional();
}
