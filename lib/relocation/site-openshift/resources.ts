import { z } from 'zod';
import { objectSchema, type Resource } from '../../clients/kube/resources.ts';

const reference = z.looseObject({ name: z.string() });

const componentRouteSchema = z.looseObject({
  namespace: z.string(),
  name: z.string(),
  hostname: z.string(),
  servingCertKeyPairSecret: reference.optional(),
});
export type ComponentRoute = z.infer<typeof componentRouteSchema>;

const ingressSchema = objectSchema.extend({
  spec: z.looseObject({
    /** Of the installation; the API refuses every change. */
    domain: z.string(),
    appsDomain: z.string().optional(),
    componentRoutes: z.array(componentRouteSchema).optional(),
  }),
  status: z
    .looseObject({
      /** What operators publish: those that are not installed have no entry. */
      componentRoutes: z
        .array(
          z.looseObject({
            namespace: z.string(),
            name: z.string(),
            currentHostnames: z.array(z.string()).optional(),
          }),
        )
        .nullish(),
    })
    .optional(),
});
export type IngressConfig = z.infer<typeof ingressSchema>;

const namedCertificateSchema = z.looseObject({
  names: z.array(z.string()).optional(),
  servingCertificate: reference,
});

const apiServerSchema = objectSchema.extend({
  spec: z
    .looseObject({
      servingCerts: z
        .looseObject({ namedCertificates: z.array(namedCertificateSchema).optional() })
        .optional(),
    })
    .optional(),
});
export type ApiServerConfig = z.infer<typeof apiServerSchema>;

const spec = z.looseObject({});
const withSpecSchema = objectSchema.extend({ spec: spec.optional() });
export type WithSpec = z.infer<typeof withSpecSchema>;

const tlsSchema = z.looseObject({
  certificate: z.string().optional(),
  externalCertificate: reference.optional(),
});

const routeSchema = objectSchema.extend({
  metadata: objectSchema.shape.metadata.extend({
    name: z.string(),
    namespace: z.string(),
    ownerReferences: z.array(z.looseObject({ kind: z.string() })).optional(),
  }),
  spec: z.looseObject({
    host: z.string().optional(),
    /** Only without a host: its router puts its own domain behind it. */
    subdomain: z.string().optional(),
    path: z.string().optional(),
    tls: tlsSchema.nullish(),
  }),
});
export type Route = z.infer<typeof routeSchema>;

/** Data are texts in base64. */
const secretSchema = objectSchema.extend({ data: z.record(z.string(), z.string()).optional() });
export type SecretObject = z.infer<typeof secretSchema>;

const machineConfigSchema = objectSchema.extend({
  spec: z.looseObject({
    config: z
      .looseObject({
        passwd: z
          .looseObject({ users: z.array(z.looseObject({ name: z.string() })).optional() })
          .optional(),
      })
      .optional(),
  }),
});
export type MachineConfigObject = z.infer<typeof machineConfigSchema>;

const config = 'config.openshift.io/v1';

/** Kinds of OpenShift that have something of a site (openshift/api, config/v1, operator/v1, route/v1). */
export const openShiftResources = {
  ingresses: { apiVersion: config, plural: 'ingresses', schema: ingressSchema },
  apiServers: { apiVersion: config, plural: 'apiservers', schema: apiServerSchema },
  proxies: { apiVersion: config, plural: 'proxies', schema: withSpecSchema },
  digestMirrors: { apiVersion: config, plural: 'imagedigestmirrorsets', schema: withSpecSchema },
  tagMirrors: { apiVersion: config, plural: 'imagetagmirrorsets', schema: withSpecSchema },
  /** Their predecessor, which is still served. */
  contentPolicies: {
    apiVersion: 'operator.openshift.io/v1alpha1',
    plural: 'imagecontentsourcepolicies',
    schema: withSpecSchema,
  },
  ingressControllers: {
    apiVersion: 'operator.openshift.io/v1',
    plural: 'ingresscontrollers',
    schema: withSpecSchema,
  },
  machineConfigs: {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    plural: 'machineconfigs',
    schema: machineConfigSchema,
  },
  routes: { apiVersion: 'route.openshift.io/v1', plural: 'routes', schema: routeSchema },
  secrets: { apiVersion: 'v1', plural: 'secrets', schema: secretSchema },
} as const satisfies Record<string, Resource>;
