/** Where OpenShift looks for what a site brings, and how the agents name it there. */
export const CONFIG = 'openshift-config';
/** Of the routers. */
export const INGRESS = 'openshift-ingress';

/** The only object of each configuration kind. */
export const CLUSTER = 'cluster';

/** Always the same names, so that another site replaces what an earlier one has brought. */
export const SITE = {
  apiSecret: 'sno-site-api',
  ingressSecret: 'sno-site-ingress',
  mirrors: 'sno-site',
  timeMachineConfig: '99-master-sno-site-time',
} as const;

/** Read by the version and the machine-config operator; the name is the installer's. */
export const USER_CA_BUNDLE = 'user-ca-bundle';
/** The authority of the administrators that the installer made (openshift/installer, AdminKubeConfigClientCABundle). */
export const ADMIN_CLIENT_CA = 'admin-kubeconfig-client-ca';
/** The key of each ConfigMap with authorities. */
export const BUNDLE_KEY = 'ca-bundle.crt';

export const appsDomain = (clusterDomain: string): string => `apps.${clusterDomain}`;
