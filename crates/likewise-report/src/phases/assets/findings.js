// What to look at first: sentences, and the phases they name as buttons.

function makeFindings(app) {
  const { findings, verdict, labels } = app.data.meta;
  const verdictText = document.getElementById("verdict");
  verdictText.textContent = verdict;
  verdictText.hidden = !verdict;
  document.getElementById("findings-block").hidden = !findings.length && !verdict;
  const buttons = [];
  for (const finding of findings) {
    const item = document.createElement("li");
    item.append(document.createTextNode(finding.text));
    for (const l of finding.labels) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "control finding-phase";
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      button.append(swatch, document.createTextNode(labels[l].name));
      button.addEventListener("click", () => app.pin(l));
      button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && app.state.shown[l] && app.highlight(l));
      button.addEventListener("pointerleave", () => app.highlight(-1));
      buttons.push([button, l]);
      item.append(" ", button);
    }
    document.getElementById("findings").append(item);
  }
  return {
    refresh() {
      for (const [button, l] of buttons) {
        button.firstChild.style.background = app.colour(l);
        button.setAttribute("aria-pressed", String(app.state.pinned === l));
      }
    },
  };
}
