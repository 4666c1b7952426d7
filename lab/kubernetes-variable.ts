/** Carries the minor version that `npm run lab -- --kubernetes` chooses to the components and into the lab's namespaces. */
export const KUBERNETES_VARIABLE = 'SNO_LAB_KUBERNETES';
