/** What a worker without a certificate is to the API server: the holder of a bootstrap token. */
export const BOOTSTRAPPERS = 'system:bootstrappers:sno-workers';

/** The groups that the API server gives to the holder of a token that was made for workers. */
export const bootstrapperGroups: readonly string[] = [
  'system:bootstrappers',
  BOOTSTRAPPERS,
  'system:authenticated',
];

/** The user of a bootstrap token: `system:bootstrap:` and its public id. */
export const bootstrapperName = /^system:bootstrap:[a-z0-9]{6}$/;
