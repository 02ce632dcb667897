// The page: its figures are drawn, its tables can be copied.

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.tsv);
  } catch {
    const area = html(document.body, "textarea", "away");
    area.value = button.dataset.tsv;
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const word = button.textContent;
  button.textContent = "copied";
  setTimeout(() => { button.textContent = word; }, 1500);
}

for (const root of document.querySelectorAll(".plot")) build(root);
for (const root of document.querySelectorAll(".structure")) buildStructure(root);
for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", () => copy(button));
}
document.documentElement.dataset.drawn = "yes";
