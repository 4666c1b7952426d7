/** Writes with what an API server says of them: FakeApi and a real one have to agree (test/integration/write-rules.test.ts). */
import { z } from 'zod';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../../lib/clients/kube/client.ts';
import { isKubeError } from '../../../../lib/clients/kube/kube-error.ts';
import { objectSchema } from '../../../../lib/clients/kube/resources.ts';
import type { Call } from '../../../../lib/clients/kube/transport.ts';
import type { ServedKind } from './stored-writes.ts';

const data = z.record(z.string(), z.string()).optional();

/** A kind of its own, with a status and one field, and two of Kubernetes. */
export const RULED_KINDS: readonly ServedKind[] = [
  {
    ...{ apiVersion: 'rules.test/v1', kind: 'Widget', plural: 'widgets' },
    ...{ isCustom: true, hasStatus: true },
    schema: z.object({
      spec: z.object({ size: z.string().optional(), color: z.string().optional() }),
      status: z.object({ seen: z.string().optional() }).optional(),
    }),
  },
  {
    ...{ apiVersion: 'v1', kind: 'Secret', plural: 'secrets', isCustom: false, hasStatus: false },
    schema: z.object({ type: z.string().default('Opaque'), data }),
    changedImmutable: (before, after) =>
      before.type === after.type ? undefined : `type: ${String(before.type)}`,
  },
];

const text = { type: 'string' };
const fields = (properties: object) => ({ type: 'object', properties });

/** The same kind, for a real server. */
export const WIDGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.rules.test' },
  spec: {
    group: 'rules.test',
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
        schema: {
          openAPIV3Schema: fields({
            spec: fields({ size: text, color: text }),
            status: fields({ seen: text }),
          }),
        },
      },
    ],
  },
};

const ONE = '/apis/rules.test/v1/widgets/one';
const SECRET = '/api/v1/namespaces/default/secrets/pair';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

const widget = (spec: object, metadata: object = {}, more: object = {}) => ({
  ...{ apiVersion: 'rules.test/v1', kind: 'Widget' },
  ...{ metadata: { name: 'one', ...metadata }, spec, ...more },
});
const secret = (type: string, metadata: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', type, data: { a: 'YQ==' } },
  metadata: { name: 'pair', namespace: 'default', ...metadata },
});

interface Found {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

type Ask = Call['method'];
const WIDGET_LIST = ONE.replace('/one', '');
const SECRET_LIST = SECRET.replace('/pair', '');

/** In this order, each with the versions that the objects then have. */
const WRITES: readonly {
  readonly what: string;
  readonly at?: string;
  readonly call: (found: Found) => Omit<Call, 'path'> & { readonly path?: string };
}[] = [
  { what: 'a PUT of what does not exist', call: () => put(widget({}, { resourceVersion: '1' })) },
  { what: 'a DELETE of it', call: () => ({ method: 'DELETE' }) },
  {
    what: 'a POST with a version',
    call: () => post(widget({}, { resourceVersion: '1' }), WIDGET_LIST),
  },
  {
    what: 'a POST, with a status and a field that nobody knows',
    call: () => post(widget({ size: 's', x: 1 }, {}, { status: { seen: 'a' } }), WIDGET_LIST),
  },
  { what: 'a POST of what exists', call: () => post(widget({ size: 'm' }), WIDGET_LIST) },
  { what: 'a PUT without a version', call: () => put(widget({ size: 'm' })) },
  { what: 'a stale PUT', call: () => put(widget({ size: 'm' }, { resourceVersion: '1' })) },
  {
    what: 'a PUT of another uid',
    call: ({ resourceVersion }) => put(widget({ size: 'm' }, { resourceVersion, uid: 'another' })),
  },
  {
    what: 'a PUT under another name',
    call: ({ resourceVersion }) => put(widget({ size: 'm' }, { resourceVersion, name: 'two' })),
  },
  {
    what: 'a PUT with a status, and a field that nobody knows',
    call: ({ resourceVersion }) =>
      put(widget({ size: 'l', y: 1 }, { resourceVersion }, { status: { seen: 'b' } })),
  },
  {
    what: 'a PUT of the status, with another spec',
    call: ({ resourceVersion }) => ({
      ...put(widget({ size: 'xl' }, { resourceVersion }, { status: { seen: 'c' } })),
      path: `${ONE}/status`,
    }),
  },
  {
    what: 'a PUT that says nothing of the status',
    call: ({ resourceVersion }) => put(widget({ size: 'xs', color: 'red' }, { resourceVersion })),
  },
  { what: 'a merge patch', call: () => patch({ spec: { size: 'xxl', color: null } }, MERGE) },
  {
    what: 'a stale merge patch',
    call: () => patch({ metadata: { resourceVersion: '1' }, spec: { size: 'q' } }, MERGE),
  },
  { what: 'a strategic patch of it', call: () => patch({ spec: { size: 'q' } }, STRATEGIC) },
  { what: 'a patch of no type', call: () => patch({ spec: { size: 'q' } }, 'application/json') },
  {
    what: 'a DELETE of another uid',
    call: () => ({ method: 'DELETE', body: { preconditions: { uid: 'another' } } }),
  },
  {
    what: 'a DELETE of an earlier version',
    call: () => ({ method: 'DELETE', body: { preconditions: { resourceVersion: '1' } } }),
  },
  {
    what: 'a DELETE of this one',
    call: ({ uid, resourceVersion }) => ({
      ...{ method: 'DELETE', body: { preconditions: { uid, resourceVersion } } },
    }),
  },
  { what: 'a Secret', at: SECRET, call: () => post(secret('Opaque'), SECRET_LIST) },
  { what: 'its type', at: SECRET, call: () => put(secret('kubernetes.io/x')) },
  {
    what: 'an update without a version',
    at: SECRET,
    call: () => put(secret('Opaque', { labels: { a: 'b' } })),
  },
  {
    what: 'a strategic patch of what is built in',
    at: SECRET,
    call: () => patch({ metadata: { labels: { c: 'd' } } }, STRATEGIC),
  },
];

const of = (method: Ask, body: unknown) => ({ method, body });
const put = (body: unknown) => of('PUT', body);
const post = (body: unknown, path: string) => ({ ...of('POST', body), path });
const patch = (body: unknown, contentType: string) => ({ ...of('PATCH', body), contentType });

const contentSchema = objectSchema.pick({ metadata: true }).extend({
  spec: z.unknown().optional(),
  status: z.unknown().optional(),
  type: z.unknown().optional(),
});

interface SaidOfWrite {
  readonly what: string;
  readonly answer: string;
  readonly isChanged: boolean;
  readonly labels?: unknown;
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly type?: unknown;
}

/** What a server says of each write, and what the object is then. */
export async function saidOfWrites(client: KubeClient, limits: Limits): Promise<SaidOfWrite[]> {
  const said: SaidOfWrite[] = [];
  for (const { what, at = ONE, call } of WRITES) {
    const found = await objectAt(client, at, limits);
    const { path = at, ...others } = call(found?.metadata ?? {});
    const answer = await client.json({ ...others, path }, limits).then(
      () => 'done',
      (error: unknown) => {
        if (!isKubeError(error)) throw error;
        return `${error.code} ${error.reason}`;
      },
    );
    const after = await objectAt(client, at, limits);
    const { labels } = after?.metadata ?? {};
    const isChanged = after?.metadata.resourceVersion !== found?.metadata.resourceVersion;
    const { spec, status, type } = after ?? {};
    said.push({ what, answer, isChanged, ...(after && { labels, spec, status, type }) });
  }
  return said;
}

async function objectAt(client: KubeClient, path: string, limits: Limits) {
  const answer = await client.raw(path, limits);
  return answer.code === 200 ? contentSchema.parse(JSON.parse(answer.body)) : undefined;
}
