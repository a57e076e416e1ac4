/** Calls `f` once, `ms` after the last call, with the last arguments. */
export function debounce<A extends unknown[]>(f: (...args: A) => void, ms: number): (...args: A) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...args), ms);
  };
}
