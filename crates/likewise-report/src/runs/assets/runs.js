// The page is whole without this: it adds a choice of theme, and shows the
// phase under the pointer or the focus in every picture.
(() => {
  const root = document.documentElement;
  const button = /** @type {HTMLButtonElement} */ (document.getElementById("theme"));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  dark.addEventListener("change", name);
  name();
  button.hidden = false;
  addEventListener("beforeprint", () => { root.dataset.printed = root.dataset.theme ?? ""; root.dataset.theme = "light"; });
  addEventListener("afterprint", () => {
    if (root.dataset.printed) root.dataset.theme = root.dataset.printed;
    else delete root.dataset.theme;
  });

  const parts = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-phase]")]);
  /** @param {string} [phase] */
  const pick = (phase) => {
    document.body.classList.toggle("picked", phase !== undefined);
    for (const part of parts) part.classList.toggle("on", part.dataset.phase === phase);
    document.dispatchEvent(new CustomEvent("pick", { detail: phase }));
  };
  for (const part of parts) {
    part.addEventListener("pointerenter", () => pick(part.dataset.phase));
    part.addEventListener("pointerleave", () => pick());
  }
  // Not on the parts: Chromium takes a shape that listens for the focus for one that wants it.
  document.addEventListener("focusin", ({ target }) => pick(target instanceof Element ? target.closest("[data-phase]")?.getAttribute("data-phase") ?? undefined : undefined));
  document.addEventListener("focusout", () => pick());
  addEventListener("keydown", (event) => { if (event.key === "Escape") pick(); });
})();
