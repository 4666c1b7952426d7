/**
 * The kinds of a site's objects, as the definitions of OpenShift 4.21 have them (openshift/api, payload-manifests/crds): fields,
 * values that are refused, and what must not change. Not named are fields that no test has.
 */
import { z } from 'zod';
import type { ServedKind, Stored } from '../../clients/kube/stored-writes.ts';

const reference = z.object({ name: z.string() });
const status = z.unknown().optional();

/** A field that the API server refuses to change. */
const keeps =
  (field: string, of: (object: Stored) => unknown) =>
  (before: Stored, after: Stored): string | undefined =>
    of(before) === of(after) ? undefined : `${field}: ${String(of(before))}`;

const custom = (
  apiVersion: string,
  kind: string,
  plural: string,
  spec: z.ZodType,
  more: Partial<ServedKind> = {},
): ServedKind => ({
  ...{ apiVersion, kind, plural, isCustom: true, hasStatus: true },
  schema: z.object({ spec, status }),
  ...more,
});

/** host[:port][/namespace...], without a scheme and a tag. */
const REPOSITORY = /^[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;

const mirrorSet = (field: string): z.ZodType =>
  z.object({
    [field]: z
      .array(
        z.object({
          source: z.string().regex(REPOSITORY),
          mirrors: z.array(z.string().regex(REPOSITORY)).optional(),
          mirrorSourcePolicy: z.enum(['NeverContactSource', 'AllowContactingSource']).optional(),
        }),
      )
      .optional(),
  });

const ingressSpec = z.object({
  domain: z.string(),
  appsDomain: z.string().optional(),
  componentRoutes: z
    .array(
      z.object({
        namespace: z.string().min(1).max(63),
        name: z.string().min(1).max(256),
        hostname: z
          .string()
          .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/),
        servingCertKeyPairSecret: reference.optional(),
      }),
    )
    .optional(),
  requiredHSTSPolicies: z.array(z.unknown()).optional(),
  loadBalancer: z.object({ platform: z.object({ type: z.string() }).optional() }).optional(),
});

const apiServerSpec = z.object({
  servingCerts: z
    .object({
      namedCertificates: z
        .array(z.object({ names: z.array(z.string()).optional(), servingCertificate: reference }))
        .max(32)
        .optional(),
    })
    .optional(),
  clientCA: reference.optional(),
  audit: z.object({ profile: z.string() }).optional(),
});

const proxySpec = z.object({
  httpProxy: z.string().optional(),
  httpsProxy: z.string().optional(),
  noProxy: z.string().optional(),
  readinessEndpoints: z.array(z.string()).optional(),
  trustedCA: reference.optional(),
});

const routeSpec = z.object({
  host: z.string().optional(),
  subdomain: z.string().optional(),
  path: z.string().optional(),
  to: z.object({ kind: z.string(), name: z.string() }),
  wildcardPolicy: z.string().optional(),
  tls: z
    .object({ termination: z.string(), certificate: z.string(), key: z.string() })
    .partial()
    .optional(),
});

const core = (kind: string, plural: string, schema: z.ZodType, more: Partial<ServedKind> = {}) => ({
  ...{ apiVersion: 'v1', kind, plural, isCustom: false, hasStatus: false, schema },
  ...more,
});

const data = z.record(z.string(), z.string()).optional();
const secretSchema = z
  .object({
    type: z.string().default('Opaque'),
    data: z.record(z.string(), z.base64()).optional(),
    immutable: z.boolean().optional(),
  })
  .refine(
    ({ type, data = {} }) =>
      type !== 'kubernetes.io/tls' || ('tls.crt' in data && 'tls.key' in data),
    {
      path: ['data'],
      message: 'Required value: tls.crt, tls.key',
    },
  )
  .refine(
    ({ type, data = {} }) =>
      type !== 'kubernetes.io/dockerconfigjson' || '.dockerconfigjson' in data,
    { path: ['data'], message: 'Required value: .dockerconfigjson' },
  );

const config = 'config.openshift.io/v1';
const operator = 'operator.openshift.io/v1';

export const OPENSHIFT_KINDS: readonly ServedKind[] = [
  core('Secret', 'secrets', secretSchema, {
    changedImmutable: keeps('type', ({ type }) => type),
  }),
  core('ConfigMap', 'configmaps', z.object({ data, binaryData: data })),
  core('Node', 'nodes', z.object({ spec: z.unknown().optional(), status }), { hasStatus: true }),
  custom(config, 'Ingress', 'ingresses', ingressSpec, {
    changedImmutable: keeps(
      'spec.domain',
      ({ spec }) => z.object({ domain: z.string() }).parse(spec).domain,
    ),
  }),
  custom(config, 'APIServer', 'apiservers', apiServerSpec),
  custom(config, 'Proxy', 'proxies', proxySpec),
  custom(config, 'ImageDigestMirrorSet', 'imagedigestmirrorsets', mirrorSet('imageDigestMirrors')),
  custom(config, 'ImageTagMirrorSet', 'imagetagmirrorsets', mirrorSet('imageTagMirrors')),
  custom(
    'operator.openshift.io/v1alpha1',
    'ImageContentSourcePolicy',
    'imagecontentsourcepolicies',
    z.object({ repositoryDigestMirrors: z.array(z.unknown()).optional() }),
    { hasStatus: false },
  ),
  custom(
    operator,
    'IngressController',
    'ingresscontrollers',
    z.object({ replicas: z.int().optional(), defaultCertificate: reference.optional() }),
  ),
  custom(
    operator,
    'OpenShiftAPIServer',
    'openshiftapiservers',
    z.object({ managementState: z.string(), observedConfig: z.unknown().optional() }),
  ),
  custom(config, 'ClusterOperator', 'clusteroperators', z.object({})),
  custom(
    'machineconfiguration.openshift.io/v1',
    'MachineConfig',
    'machineconfigs',
    z.object({
      // An Ignition config: its definition names no field of it, and keeps all.
      config: z.looseObject({}).optional(),
      kernelArguments: z.array(z.string()).optional(),
      osImageURL: z.string().optional(),
    }),
    { hasStatus: false },
  ),
  custom('route.openshift.io/v1', 'Route', 'routes', routeSpec),
];
